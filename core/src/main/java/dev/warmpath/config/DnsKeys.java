package dev.warmpath.config;

import static dev.warmpath.config.ConfigTypes.DURATION;
import static dev.warmpath.config.ConfigTypes.TEXT;
import static dev.warmpath.config.ConfigTypes.count;

import dev.warmpath.worker.DnsDiscovery;
import java.time.Duration;

/** The keys of a DNS name that stands for workers. */
final class DnsKeys {
  private static final ConfigTable TABLE = new ConfigTable();

  private static final ConfigKey<String> HOST =
      TABLE.fixed("host", TEXT, null, "The name, such as `sglang.prod.svc`.");
  private static final ConfigKey<Integer> PORT =
      TABLE.fixed("port", count(1, 65_535), null, "The port of all its workers.");
  private static final ConfigKey<String> SCHEME =
      TABLE.fixed("scheme", TEXT, "http", "The scheme of their URLs.");
  private static final ConfigKey<Duration> MIN =
      TABLE.fixed(
          "min_interval",
          DURATION,
          Duration.ofSeconds(1),
          "The shortest time between two look-ups, whatever the times to live say.");
  private static final ConfigKey<Duration> MAX =
      TABLE.fixed("max_interval", DURATION, Duration.ofMinutes(5), "The longest.");

  static final ConfigType<Name> NAME =
      ConfigTypes.object(
          "DNS name",
          TABLE,
          null,
          (values, place) -> {
            Name name =
                new Name(
                    values.get(HOST),
                    values.get(PORT),
                    values.get(SCHEME),
                    values.get(MIN),
                    values.get(MAX));
            name.discovery().close(); // refuses what would not work
            return name;
          },
          Name::toString);

  private DnsKeys() {}

  /** A name as the file has it; compares by value. */
  record Name(String host, int port, String scheme, Duration min, Duration max) {
    DnsDiscovery discovery() {
      return DnsDiscovery.builder(host, port).scheme(scheme).interval(min, max).build();
    }
  }
}
