package dev.warmpath.config;

import static dev.warmpath.config.ConfigTypes.DURATION;
import static dev.warmpath.config.ConfigTypes.count;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The keys of a profile. */
final class ProfileKeys {
  private static final ConfigTable TABLE = new ConfigTable();

  private static final ConfigKey<String> DECIDER =
      TABLE.live("policy", Keys.POLICY, null, "Decides in place of the client's policy.");
  private static final ConfigKey<Duration> CONNECT =
      TABLE.live("timeouts.connect", DURATION, null, "To make a connection.");
  private static final ConfigKey<Duration> FIRST_TOKEN =
      TABLE.live(
          "timeouts.first_token", DURATION, null, "From sending to the answer's first byte.");
  private static final ConfigKey<Duration> INTER_TOKEN =
      TABLE.live("timeouts.inter_token", DURATION, null, "Between two reads of a stream.");
  private static final ConfigKey<Duration> DEADLINE =
      TABLE.live("deadline", DURATION, null, "How long a request may take in all.");
  private static final ConfigKey<Integer> PRIORITY =
      TABLE.live(
          "priority",
          count(Integer.MIN_VALUE, Integer.MAX_VALUE),
          0,
          "Admission priority where the request gives none: above, at or below 0.");

  static final ConfigType<Written> PROFILE =
      ConfigTypes.object(
          "profile",
          TABLE,
          null,
          (values, place) ->
              new Written(
                  values.find(DECIDER),
                  values.find(CONNECT),
                  values.find(FIRST_TOKEN),
                  values.find(INTER_TOKEN),
                  values.find(DEADLINE),
                  values.get(PRIORITY)),
          Written::toString);

  private ProfileKeys() {}

  /** A profile as the file has it; compares by value. */
  record Written(
      @Nullable String policy,
      @Nullable Duration connect,
      @Nullable Duration firstToken,
      @Nullable Duration interToken,
      @Nullable Duration deadline,
      int priority) {}
}
