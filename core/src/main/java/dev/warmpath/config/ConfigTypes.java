package dev.warmpath.config;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.worker.Secret;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The types of the file's values. */
final class ConfigTypes {
  static final ConfigType<String> TEXT = texts("text", "", text -> {});

  static final ConfigType<String> URL_SCHEME =
      texts(
          "text",
          "",
          text -> {
            if (!text.matches("[A-Za-z][A-Za-z0-9+.-]*")) {
              throw new IllegalArgumentException(
                  "'" + text + "' must be a URL's scheme, such as http, https or grpc");
            }
          });

  static final ConfigType<Boolean> SWITCH =
      new Scalar<>("true or false", "") {
        @Override
        public Boolean read(JsonNode node, Place place) {
          if (!node.isBoolean()) {
            throw place.error("must be true or false");
          }
          return node.booleanValue();
        }
      };

  /** A length of time; whole nanoseconds, not negative. */
  static final ConfigType<Duration> DURATION =
      new Scalar<>("duration", "ms, s, m, h or d, as in 500ms") {
        @Override
        public Duration read(JsonNode node, Place place) {
          Duration value =
              node.isTextual() || (node.isInt() && node.intValue() == 0)
                  ? Amounts.duration(node.asText().trim())
                  : null;
          if (value == null || value.isNegative()) {
            throw place.error("must be a length of time with its unit, such as 500ms, 2s or 10m");
          }
          return value;
        }

        @Override
        public String print(Duration value) {
          return Amounts.print(value);
        }
      };

  /** A number of bytes. */
  static final ConfigType<Long> BYTES =
      new Scalar<>("size", "bytes, or KB, MB, GB of 1024 each") {
        @Override
        public Long read(JsonNode node, Place place) {
          Long value =
              node.isTextual() ? Amounts.bytes(node.textValue().trim()) : wholeOrNull(node);
          if (value == null || value < 0) {
            throw place.error("must be a number of bytes, or one with its unit, such as 64MB");
          }
          return value;
        }

        @Override
        public String print(Long value) {
          long bytes = value;
          String[] units = {"", "KB", "MB", "GB"};
          int unit = 0;
          while (unit < 3 && bytes != 0 && bytes % 1024 == 0) {
            bytes /= 1024;
            unit++;
          }
          return bytes + units[unit];
        }
      };

  static final ConfigType<Long> WHOLE =
      new Scalar<>("whole number", "") {
        @Override
        public Long read(JsonNode node, Place place) {
          Long value = wholeOrNull(node);
          if (value == null) {
            throw place.error("must be a whole number");
          }
          return value;
        }
      };

  static final ConfigType<Double> DECIMAL =
      new Scalar<>("number", "") {
        @Override
        public Double read(JsonNode node, Place place) {
          Double value = node.isNumber() ? Double.valueOf(node.doubleValue()) : parsed(node);
          if (value == null || value.isInfinite()) {
            throw place.error("must be a number");
          }
          return value;
        }

        private @Nullable Double parsed(JsonNode node) {
          try {
            return node.isTextual() ? Double.valueOf(node.textValue().trim()) : null;
          } catch (NumberFormatException e) {
            return null;
          }
        }

        @Override
        public String print(Double value) {
          return value == Math.rint(value) && Math.abs(value) < 1e15
              ? String.valueOf(value.longValue())
              : value.toString();
        }
      };

  /** A key: stays out of whatever is printed. */
  static final ConfigType<Secret> SECRET =
      new Scalar<>("secret", "${NAME} or ${file:PATH}") {
        @Override
        public Secret read(JsonNode node, Place place) {
          if (!node.isTextual() || node.textValue().isBlank()) {
            throw place.error(
                "must be text: name an environment variable as ${NAME} or a file as ${file:PATH}");
          }
          return Secret.of(node.textValue().strip());
        }
      };

  static final ConfigType<Path> PATH =
      new Scalar<>("path", "") {
        @Override
        public Path read(JsonNode node, Place place) {
          if (!node.isTextual() || node.textValue().isBlank()) {
            throw place.error("must be the path of a file or directory");
          }
          try {
            return Path.of(node.textValue());
          } catch (InvalidPathException e) {
            throw place.error("is not a path: " + e.getReason(), e);
          }
        }
      };

  static final ConfigType<ZoneId> ZONE =
      texts("time zone", "", ZoneId::of, "a time zone such as UTC or Europe/Berlin");

  private ConfigTypes() {}

  /** A type without keys. */
  private abstract static class Scalar<T> implements ConfigType<T> {
    private final String label;
    private final String unit;

    Scalar(String label, String unit) {
      this.label = label;
      this.unit = unit;
    }

    @Override
    public String label() {
      return label;
    }

    @Override
    public String unit() {
      return unit;
    }
  }

  /** A whole number within bounds. */
  static ConfigType<Integer> count(int least, int most) {
    return new Scalar<>("whole number", "") {
      @Override
      public Integer read(JsonNode node, Place place) {
        Long value = wholeOrNull(node);
        if (value == null || value < least || value > most) {
          throw place.error(
              "must be a whole number of "
                  + (most == Integer.MAX_VALUE ? least + " or more" : least + " to " + most));
        }
        return value.intValue();
      }
    };
  }

  /** Text that {@code check} accepts; it stays text, so that values compare. */
  static ConfigType<String> texts(String label, String unit, Consumer<String> check) {
    return texts(
        label,
        unit,
        text -> {
          check.accept(text);
          return text;
        },
        label);
  }

  /** Something written as text. */
  static <T> ConfigType<T> texts(
      String label, String unit, Function<String, T> parse, String wanted) {
    return new Scalar<>(label, unit) {
      @Override
      public T read(JsonNode node, Place place) {
        if (!node.isTextual()) {
          throw place.error("must be " + wanted);
        }
        try {
          return parse.apply(node.textValue());
        } catch (IllegalArgumentException | java.time.DateTimeException e) {
          throw place.error("is wrong: " + e.getMessage(), e);
        }
      }
    };
  }

  /** One of some names, in lower case. */
  static <E extends Enum<E>> ConfigType<E> oneOf(E[] values) {
    String names = Stream.of(values).map(ConfigTypes::lower).collect(Collectors.joining(" or "));
    return new Scalar<>("text", names) {
      @Override
      public E read(JsonNode node, Place place) {
        return Stream.of(values)
            .filter(value -> lower(value).equals(node.textValue()))
            .findFirst()
            .orElseThrow(() -> place.error("is wrong: '" + node.asText() + "' must be " + names));
      }

      @Override
      public String print(E value) {
        return lower(value);
      }
    };
  }

  private static String lower(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }

  /** A list, or a single value in its place. */
  static <T> ConfigType<List<T>> list(ConfigType<T> of) {
    return new ConfigType<>() {
      @Override
      public String label() {
        return "list of " + of.label();
      }

      @Override
      public String unit() {
        return of.unit();
      }

      @Override
      public List<T> read(JsonNode node, Place place) {
        if (!node.isArray()) {
          return List.of(of.read(node, place));
        }
        List<T> values = new ArrayList<>();
        for (int i = 0; i < node.size(); i++) {
          values.add(of.read(node.get(i), place.at(i)));
        }
        return List.copyOf(values);
      }

      @Override
      public String print(List<T> values) {
        StringJoiner text = new StringJoiner(", ", "[", "]");
        values.forEach(value -> text.add(of.print(value)));
        return text.toString();
      }

      @Override
      public @Nullable ConfigTable keys() {
        return of.keys();
      }

      @Override
      public String keysBehind() {
        return "[].";
      }
    };
  }

  /** Values by names that the file chooses. */
  static <T> ConfigType<Map<String, T>> named(ConfigType<T> of) {
    return new ConfigType<>() {
      @Override
      public String label() {
        return of.label() + " by name";
      }

      @Override
      public String unit() {
        return of.unit();
      }

      @Override
      public Map<String, T> read(JsonNode node, Place place) {
        if (!node.isObject()) {
          throw place.error("must be an object: a name each, and what it stands for");
        }
        Map<String, T> values = new LinkedHashMap<>();
        for (Map.Entry<String, JsonNode> field : node.properties()) {
          values.put(field.getKey(), of.read(field.getValue(), place.in(field.getKey())));
        }
        return java.util.Collections.unmodifiableMap(values);
      }

      @Override
      public String print(Map<String, T> values) {
        StringJoiner text = new StringJoiner(", ", "{", "}");
        values.forEach((name, value) -> text.add(name + ": " + of.print(value)));
        return text.toString();
      }

      @Override
      public @Nullable ConfigTable keys() {
        return of.keys();
      }

      @Override
      public String keysBehind() {
        return ".*.";
      }
    };
  }

  /**
   * An object with keys of its own.
   *
   * @param line reads the short form, a line of text, or null where there is none
   * @param print how it is printed; without secrets
   */
  static <T> ConfigType<T> object(
      String label,
      ConfigTable keys,
      @Nullable Function<String, T> line,
      BiFunction<ConfigValues, Place, T> make,
      Function<T, String> print) {
    return new ConfigType<>() {
      @Override
      public String label() {
        return label;
      }

      @Override
      public T read(JsonNode node, Place place) {
        try {
          return node.isTextual() && line != null
              ? line.apply(node.textValue())
              : make.apply(keys.read(node, place), place);
        } catch (ConfigException e) {
          throw e;
        } catch (IllegalArgumentException e) {
          throw place.error("is wrong: " + e.getMessage(), e);
        }
      }

      @Override
      public String print(T value) {
        return print.apply(value);
      }

      @Override
      public ConfigTable keys() {
        return keys;
      }
    };
  }

  private static @Nullable Long wholeOrNull(JsonNode node) {
    if (node.isIntegralNumber() && node.canConvertToLong()) {
      return node.longValue();
    }
    try {
      return node.isTextual() ? Long.valueOf(node.textValue().trim()) : null;
    } catch (NumberFormatException e) {
      return null;
    }
  }
}
