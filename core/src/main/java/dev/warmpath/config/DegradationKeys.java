package dev.warmpath.config;

import static dev.warmpath.config.ConfigTypes.DECIMAL;
import static dev.warmpath.config.ConfigTypes.SWITCH;
import static dev.warmpath.config.ConfigTypes.count;

import dev.warmpath.health.DegradationMode;
import dev.warmpath.health.DegradationSettings;
import dev.warmpath.health.DegradationSettings.Rule;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;

/** The keys of one way in which a rank can be degraded. */
record DegradationKeys(
    ConfigKey<Boolean> enabled,
    ConfigKey<Double> enter,
    ConfigKey<Double> leave,
    ConfigKey<Integer> readings,
    ConfigKey<Double> share) {

  private static final int MANY = 1_000;

  /** Adds the keys of every mode that goes by a rule. */
  static Map<DegradationMode, DegradationKeys> all(
      ConfigTable table, DegradationSettings standard) {
    Map<DegradationMode, DegradationKeys> keys = new EnumMap<>(DegradationMode.class);
    for (DegradationMode mode : DegradationMode.values()) {
      Rule rule = standard.rules().get(mode);
      if (rule != null) {
        keys.put(mode, of(table, mode, rule));
      }
    }
    return Collections.unmodifiableMap(keys);
  }

  private static DegradationKeys of(ConfigTable table, DegradationMode mode, Rule rule) {
    String name = "health.degradation." + mode.label();
    return new DegradationKeys(
        table.live(
            name + ".enabled", SWITCH, true, "Whether a rank is ever `" + mode.label() + "`."),
        table.live(
            name + ".enter",
            DECIMAL,
            rule.enter(),
            "The signal from which on it is; see OPERATIONS.md."),
        table.live(name + ".leave", DECIMAL, rule.leave(), "The signal down to which it stays so."),
        table.live(
            name + ".readings", count(1, MANY), rule.readings(), "Signals in a row that it takes."),
        table.live(
            name + ".share",
            DECIMAL,
            rule.share(),
            "The share of its traffic, 0 to 1, that it keeps meanwhile."));
  }

  /** The settings that were written. */
  static DegradationSettings read(ConfigValues values) {
    DegradationSettings.Builder settings =
        DegradationSettings.builder()
            .hold(values.get(Keys.DEGRADATION_HOLD))
            .slowStart(values.get(Keys.SLOW_START), values.get(Keys.SLOW_START_SHARE));
    Keys.DEGRADATION_RULES.forEach(
        (mode, keys) -> {
          if (values.get(keys.enabled)) {
            settings.rule(
                mode,
                new Rule(
                    values.get(keys.enter),
                    values.get(keys.leave),
                    values.get(keys.readings),
                    values.get(keys.share)));
          } else {
            settings.without(mode);
          }
        });
    return settings.build();
  }
}
