package dev.warmpath.config;

import static dev.warmpath.config.ConfigTypes.DURATION;
import static dev.warmpath.config.ConfigTypes.PATH;
import static dev.warmpath.config.ConfigTypes.SWITCH;
import static dev.warmpath.config.ConfigTypes.TEXT;
import static dev.warmpath.config.ConfigTypes.URL_SCHEME;
import static dev.warmpath.config.ConfigTypes.count;

import dev.warmpath.worker.DnsDiscovery;
import dev.warmpath.worker.FileDiscovery;
import dev.warmpath.worker.WorkerDiscovery;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The keys of where workers are found. */
final class DiscoveryKeys {
  private DiscoveryKeys() {}

  private static ConfigKey<CommonWorker> commonKey(ConfigTable table) {
    return table.live(
        "workers",
        CommonWorker.COMMON,
        null,
        "What all of them are where nothing else is told of one: the keys of `workers[]` but"
            + " `url`.");
  }

  /** A list of workers as the file has it; compares by value. */
  record ListFile(Path path, Duration interval, @Nullable CommonWorker common)
      implements DiscoverySource {
    private static final ConfigTable TABLE = new ConfigTable();
    private static final ConfigKey<Path> PATH_KEY =
        TABLE.live("path", PATH, null, "The file, in the form of `FileDiscovery`.");
    private static final ConfigKey<Duration> INTERVAL =
        TABLE.live(
            "interval", DURATION, FileDiscovery.DEFAULT_INTERVAL, "Between two looks at it.");
    private static final ConfigKey<CommonWorker> COMMON = commonKey(TABLE);

    static final ConfigType<ListFile> TYPE =
        ConfigTypes.object(
            "worker file",
            TABLE,
            line -> checked(new ListFile(Path.of(line), FileDiscovery.DEFAULT_INTERVAL, null)),
            (values, place) ->
                checked(
                    new ListFile(values.get(PATH_KEY), values.get(INTERVAL), values.find(COMMON))),
            ListFile::toString);

    private static ListFile checked(ListFile file) {
      if (file.path().toString().isBlank()) {
        throw new IllegalArgumentException("name the file that lists the workers");
      }
      file.open().close(); // refuses what would not work
      return file;
    }

    @Override
    public String name() {
      return "file:" + path;
    }

    @Override
    public WorkerDiscovery open() {
      return FileDiscovery.builder(path)
          .interval(interval)
          .workers(CommonWorker.filling(common))
          .build();
    }
  }

  /** A name as the file has it; compares by value. */
  record DnsName(
      String host,
      int port,
      String scheme,
      Duration min,
      Duration max,
      Duration otherwise,
      @Nullable CommonWorker common)
      implements DiscoverySource {
    private static final ConfigTable TABLE = new ConfigTable();
    private static final ConfigKey<String> HOST =
        TABLE.live("host", TEXT, null, "The name, such as `sglang.prod.svc`.");
    private static final ConfigKey<Integer> PORT =
        TABLE.live("port", count(1, 65_535), null, "The port of all its workers.");
    private static final ConfigKey<String> SCHEME =
        TABLE.live("scheme", URL_SCHEME, "http", "The scheme of their URLs.");
    private static final ConfigKey<Duration> MIN =
        TABLE.live(
            "min_interval",
            DURATION,
            DnsDiscovery.DEFAULT_MIN_INTERVAL,
            "The shortest time between two look-ups, whatever the times to live say.");
    private static final ConfigKey<Duration> MAX =
        TABLE.live("max_interval", DURATION, DnsDiscovery.DEFAULT_MAX_INTERVAL, "The longest.");
    private static final ConfigKey<Duration> OTHERWISE =
        TABLE.live(
            "default_interval",
            DURATION,
            DnsDiscovery.DEFAULT_INTERVAL,
            "The time between them where no time to live is told.");
    private static final ConfigKey<CommonWorker> COMMON = commonKey(TABLE);

    static final ConfigType<DnsName> TYPE =
        ConfigTypes.object(
            "DNS name",
            TABLE,
            null,
            (values, place) -> {
              DnsName name =
                  new DnsName(
                      values.get(HOST),
                      values.get(PORT),
                      values.get(SCHEME),
                      values.get(MIN),
                      values.get(MAX),
                      values.get(OTHERWISE),
                      values.find(COMMON));
              name.open().close(); // refuses what would not work
              return name;
            },
            DnsName::toString);

    @Override
    public String name() {
      return "dns:" + host + ":" + port;
    }

    @Override
    public WorkerDiscovery open() {
      return DnsDiscovery.builder(host, port)
          .scheme(scheme)
          .interval(min, max)
          .defaultInterval(otherwise)
          .workers(CommonWorker.filling(common))
          .build();
    }
  }

  /** A Kubernetes service as the file has it; compares by value. */
  record Service(KubernetesSettings settings, @Nullable CommonWorker common)
      implements DiscoverySource {
    private static final ConfigTable TABLE = new ConfigTable();
    private static final ConfigKey<String> NAMESPACE =
        TABLE.live("namespace", TEXT, null, "Its namespace.");
    private static final ConfigKey<String> SERVICE = TABLE.live("service", TEXT, null, "Its name.");
    private static final ConfigKey<String> SCHEME =
        TABLE.live("scheme", URL_SCHEME, "http", "The scheme of its workers' URLs.");
    private static final ConfigKey<String> PORT_NAME =
        TABLE.live("port_name", TEXT, null, "The service's port that is taken; its first if none.");
    private static final ConfigKey<Integer> PORT =
        TABLE.live(
            "port", count(1, 65_535), null, "The port of each pod, whatever the service says.");
    private static final ConfigKey<Boolean> POD_LABELS =
        TABLE.live(
            "pod_labels",
            SWITCH,
            false,
            "Takes role and engine from the pods' own labels before the service's.");
    private static final ConfigKey<Duration> RELIST =
        TABLE.live(
            "relist_interval",
            DURATION,
            KubernetesSettings.DEFAULT_RELIST_INTERVAL,
            "After how long pods are listed anew although the watch seems well.");
    private static final ConfigKey<CommonWorker> COMMON = commonKey(TABLE);

    static final ConfigType<Service> TYPE =
        ConfigTypes.object(
            "Kubernetes service",
            TABLE,
            null,
            (values, place) -> {
              Duration relist = values.get(RELIST);
              if (relist.isZero()) {
                throw place.in("relist_interval").error("must be longer than nothing");
              }
              return new Service(
                  new KubernetesSettings(
                      values.get(NAMESPACE),
                      values.get(SERVICE),
                      values.get(SCHEME),
                      values.find(PORT_NAME),
                      values.find(PORT),
                      values.get(POD_LABELS),
                      relist),
                  values.find(COMMON));
            },
            service -> service.settings + ";" + service.common);

    @Override
    public String name() {
      return "kubernetes:" + settings.namespace() + "/" + settings.service();
    }

    @Override
    public WorkerDiscovery open() {
      return Parts.made(
          new Place(name(), "discovery.kubernetes"),
          Parts.KUBERNETES,
          maker -> maker.kubernetes(settings, CommonWorker.filling(common)));
    }
  }
}
