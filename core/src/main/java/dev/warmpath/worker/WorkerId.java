package dev.warmpath.worker;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;

/**
 * The stable name of a worker: its base URL, normalised (lower-case scheme and host, explicit port,
 * no trailing slash). Two clients that were given the same address agree on it, and it survives
 * restarts; what changes on a restart is {@link Worker#epoch()}.
 *
 * @param value the normalised URL, such as {@code http://10.0.0.11:30000}
 */
public record WorkerId(String value) implements Comparable<WorkerId> {

  /**
   * Normalises an address.
   *
   * @param address a URL with a scheme and a host; a missing port is the scheme's default (80, 443;
   *     gRPC schemes need one)
   * @throws IllegalArgumentException saying what is wrong with the address
   */
  public static WorkerId parse(String address) {
    URI uri;
    try {
      uri = new URI(address.trim());
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException(
          "worker address '" + address + "' is not a URL: use http://host:port", e);
    }
    String scheme = uri.getScheme();
    if (scheme == null || uri.getHost() == null) {
      throw new IllegalArgumentException(
          "worker address '" + address + "' needs a scheme and a host: use http://host:port");
    }
    if (uri.getUserInfo() != null || uri.getQuery() != null || uri.getFragment() != null) {
      throw new IllegalArgumentException(
          "worker address of host '"
              + uri.getHost()
              + "' may hold a scheme, host, port and path only; keys are configured apart");
    }
    scheme = scheme.toLowerCase(Locale.ROOT);
    int port = uri.getPort();
    if (port < 0) {
      port =
          switch (scheme) {
            case "http" -> 80;
            case "https" -> 443;
            default ->
                throw new IllegalArgumentException("worker address '" + address + "' needs a port");
          };
    }
    if (port == 0 || port > 65_535) {
      throw new IllegalArgumentException(
          "worker address '" + address + "' has port " + port + ": use 1 to 65535");
    }
    String path = uri.getRawPath() == null ? "" : uri.getRawPath();
    while (path.endsWith("/")) {
      path = path.substring(0, path.length() - 1);
    }
    return new WorkerId(
        scheme + "://" + uri.getHost().toLowerCase(Locale.ROOT) + ":" + port + path);
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
