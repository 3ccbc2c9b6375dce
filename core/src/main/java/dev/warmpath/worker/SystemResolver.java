package dev.warmpath.worker;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.Security;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** See {@link HostResolver#system()}. Both files are read afresh at every look-up. */
final class SystemResolver implements HostResolver {
  static final SystemResolver INSTANCE =
      new SystemResolver(
          Path.of("/etc/hosts"), Path.of("/etc/resolv.conf"), SystemResolver::viaJdk);

  private static final Logger log = LoggerFactory.getLogger(HostResolver.class);
  private static final AtomicBoolean warned = new AtomicBoolean();

  private final Path hosts;
  private final Path resolvConf;
  private final HostResolver fallback;

  SystemResolver(Path hosts, Path resolvConf, HostResolver fallback) {
    this.hosts = hosts;
    this.resolvConf = resolvConf;
    this.fallback = fallback;
  }

  @Override
  public Resolution resolve(String host) throws IOException {
    InetAddress literal = StubResolver.literal(host);
    if (literal != null) {
      return new Resolution(List.of(literal), null);
    }
    StubResolver.Config config = names(host) ? null : config();
    if (config == null) {
      return fallback.resolve(host);
    }
    Resolution found;
    try {
      found = new StubResolver(config).resolve(host);
    } catch (IOException e) {
      try {
        return fallback.resolve(host);
      } catch (IOException alsoFailed) {
        e.addSuppressed(alsoFailed);
        throw e;
      }
    }
    if (!found.addresses().isEmpty()) {
      return found;
    }
    try {
      // Name services beside DNS and hosts (mDNS, NIS) are the platform's to ask.
      return fallback.resolve(host);
    } catch (IOException nobodyKnows) {
      return found;
    }
  }

  private boolean names(String host) {
    for (String line : lines(hosts)) {
      int comment = line.indexOf('#');
      String[] words = (comment < 0 ? line : line.substring(0, comment)).trim().split("\\s+");
      if (Arrays.stream(words).skip(1).anyMatch(host::equalsIgnoreCase)) {
        return true;
      }
    }
    return false;
  }

  private StubResolver.@Nullable Config config() {
    StubResolver.Config config = StubResolver.Config.parse(lines(resolvConf));
    return config.servers().isEmpty() ? null : config;
  }

  private static List<String> lines(Path file) {
    try {
      return new ArrayList<>(Files.readAllLines(file, StandardCharsets.ISO_8859_1));
    } catch (IOException e) {
      return List.of();
    }
  }

  private static Resolution viaJdk(String host) throws IOException {
    if ("-1".equals(Security.getProperty("networkaddress.cache.ttl"))
        && warned.compareAndSet(false, true)) {
      log.warn(
          "The JVM caches addresses for ever (networkaddress.cache.ttl=-1):"
              + " workers that move will not be found through it");
    }
    return new Resolution(List.of(InetAddress.getAllByName(host)), null);
  }
}
