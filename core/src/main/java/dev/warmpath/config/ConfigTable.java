package dev.warmpath.config;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The keys that an object of the file may have, and how it is read by them. */
final class ConfigTable {
  private final Map<String, ConfigKey<?>> byName = new LinkedHashMap<>();
  private final Set<String> sections = new LinkedHashSet<>();

  /**
   * Adds a key that a running client can be given anew; within an object, if the key of that object
   * can.
   */
  <T> ConfigKey<T> live(String name, ConfigType<T> type, @Nullable T standard, String text) {
    return add(new ConfigKey<>(name, type, standard, null, text));
  }

  /** Adds a key that holds from a client's start to its end. */
  <T> ConfigKey<T> fixed(
      WhyFixed why, String name, ConfigType<T> type, @Nullable T standard, String text) {
    return add(new ConfigKey<>(name, type, standard, why, text));
  }

  private <T> ConfigKey<T> add(ConfigKey<T> key) {
    if (byName.put(key.name(), key) != null) {
      throw new IllegalStateException(key.name() + " stands twice in the table");
    }
    for (int dot = key.name().indexOf('.'); dot >= 0; dot = key.name().indexOf('.', dot + 1)) {
      sections.add(key.name().substring(0, dot));
    }
    return key;
  }

  Collection<ConfigKey<?>> keys() {
    return byName.values();
  }

  /**
   * Reads an object.
   *
   * @throws ConfigException for the first thing that is wrong with it
   */
  ConfigValues read(JsonNode object, Place place) {
    Map<ConfigKey<?>, Object> values = new HashMap<>();
    read(object, "", place, values);
    return new ConfigValues(values, place);
  }

  private void read(JsonNode object, String prefix, Place place, Map<ConfigKey<?>, Object> values) {
    if (!object.isObject()) {
      throw place.error("must be an object of keys and values");
    }
    for (Map.Entry<String, JsonNode> field : object.properties()) {
      String name = prefix + field.getKey();
      Place at = place.in(field.getKey());
      ConfigKey<?> key = byName.get(name);
      if (key != null) {
        if (!field.getValue().isNull()) {
          values.put(key, key.type().read(field.getValue(), at));
        }
      } else if (sections.contains(name)) {
        if (!field.getValue().isNull()) {
          read(field.getValue(), name + ".", place.in(field.getKey()), values);
        }
      } else {
        throw unknown(name, prefix, at);
      }
    }
  }

  private ConfigException unknown(String name, String prefix, Place at) {
    List<String> known = new ArrayList<>(byName.keySet());
    known.addAll(sections);
    String best = NearestName.of(name, known);
    List<String> here = new ArrayList<>();
    for (String each : known) {
      if (each.startsWith(prefix) && each.indexOf('.', prefix.length()) < 0) {
        here.add(each.substring(prefix.length()));
      }
    }
    return at.error(
        "is not a key of the configuration: "
            + (best == null ? "use one of " + String.join(", ", here) : "did you mean " + best));
  }
}
