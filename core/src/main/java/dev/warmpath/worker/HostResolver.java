package dev.warmpath.worker;

import java.io.IOException;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Looks a host name up, afresh at every call. Implementations are thread safe. */
@FunctionalInterface
public interface HostResolver {
  /**
   * Looks a name up. May block for some seconds; ends early when interrupted where it can.
   *
   * @param host a host name, or an IP literal, which stands for itself
   * @return all its addresses, IPv4 and IPv6; none when the name servers say that there are none
   * @throws IOException when it can't be told: no name server answers, or none that knows
   */
  Resolution resolve(String host) throws IOException;

  /**
   * The machine's own way, past the JVM's address cache where it can: it asks the name servers of
   * {@code /etc/resolv.conf}, with its search list, and so learns each answer's time to live. Names
   * of {@code /etc/hosts}, machines without {@code resolv.conf} and names that its servers can't
   * resolve go through {@link InetAddress}, which tells no time to live and answers from the JVM's
   * cache (security property {@code networkaddress.cache.ttl}: 30 s unless set, for ever if -1).
   */
  static HostResolver system() {
    return SystemResolver.INSTANCE;
  }

  /**
   * An answer.
   *
   * @param addresses all addresses
   * @param ttl how long they may be believed, or null where it is not told
   */
  record Resolution(List<InetAddress> addresses, @Nullable Duration ttl) {
    /** Copies {@code addresses}. */
    public Resolution {
      addresses = List.copyOf(addresses);
    }
  }
}
