package dev.warmpath.config;

import org.jspecify.annotations.Nullable;

/** Writes the reference of the configuration file from the table of its keys. */
final class ConfigReference {
  private ConfigReference() {}

  /** The whole page, as Markdown. */
  static String markdown() {
    StringBuilder out = new StringBuilder();
    out.append(
        """
        # Configuration

        Everything that `RouterClient.builder()` takes and that can be written down, as one YAML or JSON file: `builder.config(Path)`, or
        `--config FILE` on the command line. What the builder is told by calls, and flags, win over the file. YAML takes
        `com.fasterxml.jackson.dataformat:jackson-dataformat-yaml` on the class path, JSON nothing. An unknown key is an error. A dot is a
        level: `retry.max_attempts` is `max_attempts` within `retry`. Parts that other modules make (`transports`, `umbp`,
        `discovery.kubernetes`, `knowledge.enabled`) take those modules on the class path. What only code can be stays with the builder:
        listeners, tracers, executors, clocks, policies and discoveries of one's own.

        In any text `${NAME}` stands for an environment variable and `${file:PATH}` for a file's content, so that secrets stand
        elsewhere; `$${` is a plain `${`. Relative paths are relative to the working directory.

        A running client takes the file's changes by itself (`reload_interval`), or through `router.reload(config)`: checked as a whole and
        taken at once, while requests that are under way keep what they began with. What a source of workers told that is no longer named
        stays until each of those that are named has told something. A change of a key that is not reloadable, or any error, leaves the old
        configuration in force and is reported with the reason.

        ```yaml
        workers:
          - http://10.0.0.11:30000
          - url: grpc://10.0.0.12:50051
            role: regular
        api_key: ${file:/run/secrets/engine-key}
        policy: session>homing>shortest_queue
        retry:
          max_attempts: 3
        ```

        | key | type | unit | default | reloadable | what it does |
        |---|---|---|---|---|---|
        """);
    for (ConfigKey<?> key : Keys.TABLE.keys()) {
      rows(out, "", key, key.fixed());
    }
    out.append("\nWhat a running client can't take, and why:\n\n");
    for (WhyFixed why : WhyFixed.values()) {
      out.append("- *").append(why.label()).append("*: ").append(why.text()).append(".\n");
    }
    return out.toString();
  }

  private static void rows(
      StringBuilder out, String prefix, ConfigKey<?> key, @Nullable WhyFixed fixed) {
    row(out, prefix, key, fixed);
    ConfigTable within = key.type().keys();
    if (within != null) {
      for (ConfigKey<?> each : within.keys()) {
        rows(out, prefix + key.name() + key.type().keysBehind(), each, fixed);
      }
    }
  }

  private static <T> void row(
      StringBuilder out, String prefix, ConfigKey<T> key, @Nullable WhyFixed fixed) {
    String standard = key.printed(key.standard());
    out.append("| `")
        .append(prefix)
        .append(key.name())
        .append("` | ")
        .append(key.type().label())
        .append(" | ")
        .append(key.type().unit())
        .append(" | ")
        .append(standard.isEmpty() ? "" : "`" + standard + "`")
        .append(" | ")
        .append(fixed == null ? "yes" : "no: *" + fixed.label() + "*")
        .append(" | ")
        .append(key.text())
        .append(" |\n");
  }
}
