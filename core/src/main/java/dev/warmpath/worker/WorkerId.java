package dev.warmpath.worker;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnknownHostException;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The stable name of a worker: its base URL, normalised (lower-case scheme and host, explicit port,
 * no trailing slash, IPv6 literals in RFC 5952's one form). Two clients that were given the same
 * address agree on it, and it survives restarts; what changes on a restart is {@link
 * Worker#epoch()}.
 *
 * @param value the normalised URL, such as {@code http://10.0.0.11:30000}
 */
public record WorkerId(String value) implements Comparable<WorkerId> {
  /** Host names that URIs know only as registry-based authorities, such as {@code llm_1:8000}. */
  private static final Pattern LOOSE_AUTHORITY =
      Pattern.compile("([A-Za-z0-9._-]+)(?::([0-9]{1,6}))?");

  private static final Pattern USER_INFO = Pattern.compile("//[^/]*@");

  /**
   * Normalises an address.
   *
   * @param address a URL with a scheme and a host; a missing port is the scheme's default (80, 443;
   *     gRPC schemes need one)
   * @throws IllegalArgumentException saying what is wrong with the address
   */
  public static WorkerId parse(String address) {
    String shown = USER_INFO.matcher(address.trim()).replaceFirst("//***@");
    URI uri;
    try {
      uri = new URI(address.trim());
    } catch (URISyntaxException e) {
      // Without its cause, which holds the address as it was given.
      throw new IllegalArgumentException(
          "worker address '"
              + shown
              + "' is not a URL ("
              + e.getReason()
              + "): use http://host:port");
    }
    if (uri.getRawQuery() != null
        || uri.getRawFragment() != null
        || (uri.getRawAuthority() != null && uri.getRawAuthority().indexOf('@') >= 0)) {
      throw new IllegalArgumentException(
          "worker address '"
              + shown
              + "' may hold a scheme, host, port and path only; keys are configured apart");
    }
    String host = uri.getHost();
    int port = uri.getPort();
    if (host == null && uri.getRawAuthority() != null) {
      Matcher loose = LOOSE_AUTHORITY.matcher(uri.getRawAuthority());
      if (loose.matches()) {
        host = loose.group(1);
        port = loose.group(2) == null ? -1 : Integer.parseInt(loose.group(2));
      }
    }
    if (uri.getScheme() == null || host == null) {
      throw new IllegalArgumentException(
          "worker address '" + shown + "' needs a scheme and a host: use http://host:port");
    }
    String scheme = uri.getScheme().toLowerCase(Locale.ROOT);
    if (port < 0) {
      port =
          switch (scheme) {
            case "http" -> 80;
            case "https" -> 443;
            default ->
                throw new IllegalArgumentException("worker address '" + shown + "' needs a port");
          };
    }
    if (port == 0 || port > 65_535) {
      throw new IllegalArgumentException(
          "worker address '" + shown + "' has port " + port + ": use 1 to 65535");
    }
    String path = uri.getRawPath() == null ? "" : uri.getRawPath();
    while (path.endsWith("/")) {
      path = path.substring(0, path.length() - 1);
    }
    return new WorkerId(scheme + "://" + normalHost(host) + ":" + port + path);
  }

  /** The name of the worker at that address and port. */
  static WorkerId of(String scheme, InetAddress address, int port) {
    return parse(scheme + "://" + literal(address) + ":" + port);
  }

  private static String normalHost(String host) {
    if (!host.startsWith("[")) {
      return host.toLowerCase(Locale.ROOT);
    }
    try {
      // A literal: no name is looked up.
      return literal(InetAddress.getByName(host));
    } catch (UnknownHostException e) {
      return host.toLowerCase(Locale.ROOT); // a scope id that this machine does not have
    }
  }

  private static String literal(InetAddress address) {
    if (!(address instanceof Inet6Address)) {
      return address.getHostAddress();
    }
    byte[] bytes = address.getAddress();
    int[] groups = new int[8];
    for (int i = 0; i < 8; i++) {
      groups[i] = (bytes[2 * i] & 0xff) << 8 | (bytes[2 * i + 1] & 0xff);
    }
    int from = 8;
    int longest = 1; // a single zero group is not shortened
    for (int i = 0; i < 8; i++) {
      int zeros = 0;
      while (i + zeros < 8 && groups[i + zeros] == 0) {
        zeros++;
      }
      if (zeros > longest) {
        longest = zeros;
        from = i;
      }
    }
    StringBuilder text = new StringBuilder("[");
    for (int i = 0; i < 8; i++) {
      if (i == from) {
        text.append("::");
        i += longest - 1;
      } else {
        if (i > 0 && text.charAt(text.length() - 1) != ':') {
          text.append(':');
        }
        text.append(Integer.toHexString(groups[i]));
      }
    }
    String host = address.getHostAddress();
    int scope = host.indexOf('%');
    return text.append(scope < 0 ? "" : host.substring(scope)).append(']').toString();
  }

  /** The URL as a {@link URI}. */
  public URI uri() {
    return URI.create(value);
  }

  /** The lower-case scheme, which picks the transport. */
  public String scheme() {
    return value.substring(0, value.indexOf(':'));
  }

  @Override
  public int compareTo(WorkerId other) {
    return value.compareTo(other.value);
  }

  @Override
  public String toString() {
    return value;
  }
}
