package dev.warmpath.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.policy.RoutingPolicy;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each key sets what it is called after, and nothing else: none is read for another, or never. */
class KeyEffectTest {
  /** Without these, the keys beside them say nothing. */
  private static final Map<String, String> BASE =
      Map.of(
          "load_history.file", "a.db",
          "kv_events.enabled", "true",
          "umbp.master", "host:1");

  /** What goes into objects that don't show it: see the tests of what they decide. */
  private static final Set<String> UNSEEN =
      Set.of("homing.", "linear_cost.", "lookup.vllm_", "knowledge.key");

  /** Settings that stand elsewhere than their keys. */
  private static final Map<String, String> SHOWN_AS =
      Map.of(
          "template_zone", "template_clock",
          "knowledge.decisions_at_info", "knowledge_decisions_at_info",
          "knowledge.overload.qps_1m", "knowledge.overload.requests_per_second",
          "knowledge.overload.queue_ms", "knowledge.overload.queue_millis");

  static Stream<ConfigKey<?>> keys() {
    return Keys.TABLE.keys().stream()
        .filter(key -> other(key) != null && !key.name().endsWith(".enabled"))
        .filter(key -> UNSEEN.stream().noneMatch(key.name()::startsWith));
  }

  @ParameterizedTest
  @MethodSource("keys")
  void setsWhatItIsCalledAfter(ConfigKey<?> key) {
    Map<String, String> before = shown(BASE);
    Map<String, String> text = new LinkedHashMap<>(BASE);
    text.put(key.name(), String.valueOf(other(key)));
    Set<String> changed = new TreeSet<>();
    shown(text)
        .forEach(
            (path, value) -> {
              if (!value.equals(before.get(path))) {
                changed.add(path);
              }
            });
    assertThat(changed).containsExactly(SHOWN_AS.getOrDefault(key.name(), key.name()));
  }

  /** Text that is not the standard value; null where the key has no plain one. */
  private static @Nullable String other(ConfigKey<?> key) {
    Object standard = key.standard();
    return switch (key.type().label()) {
      case "true or false" -> String.valueOf(!Boolean.TRUE.equals(standard));
      case "duration" -> standard == null ? "7s" : ((Duration) standard).plusMillis(1).toString();
      case "whole number" ->
          standard == null ? "2" : String.valueOf(((Number) standard).longValue() + 1);
      case "size" -> String.valueOf(((Number) key.standard()).longValue() + 65_536);
      case "number" -> {
        double value = standard == null ? 0 : (Double) standard;
        yield String.valueOf(value == 0 ? 0.25 : value * 0.99);
      }
      case "text" ->
          Arrays.stream(key.type().unit().split(" or ", -1))
              .filter(name -> !name.isEmpty() && !name.equals(printed(key)))
              .findFirst()
              .orElse("text");
      case "secret", "path" -> "some";
      case "time zone" -> "Europe/Berlin";
      case "policy" -> "random";
      default -> null;
    };
  }

  private static <T> String printed(ConfigKey<T> key) {
    return key.printed(key.standard());
  }

  /** What a configuration says, each value under its name in a file. */
  private static Map<String, String> shown(Map<String, String> keys) {
    String text =
        keys.entrySet().stream()
            .map(key -> key.getKey() + ": " + key.getValue())
            .collect(Collectors.joining("\n"));
    Map<String, String> out = new TreeMap<>();
    show(RouterConfig.parse(text, "a.yaml"), "", out);
    return out;
  }

  private static void show(@Nullable Object value, String path, Map<String, String> out) {
    if (value instanceof RoutingPolicy policy) {
      out.put(path, policy.name());
    } else if (value instanceof Map<?, ?> map) {
      map.forEach((name, each) -> show(each, path + "." + label(name), out));
    } else if (value instanceof Record
        || value instanceof RouterConfig
        || value instanceof ConfiguredParts
        || named(value)) {
      for (Method get : value.getClass().getDeclaredMethods()) {
        if (shows(get)) {
          show(got(get, value), path(path, get.getName()), out);
        }
      }
    } else {
      out.put(path, String.valueOf(value));
    }
  }

  private static String label(@Nullable Object name) {
    return String.valueOf(name).toLowerCase(Locale.ROOT);
  }

  private static boolean named(@Nullable Object value) {
    return value != null && value.getClass().getSimpleName().equals("LookupSettings");
  }

  private static boolean shows(Method get) {
    return get.getParameterCount() == 0
        && !Modifier.isStatic(get.getModifiers())
        && !Modifier.isPrivate(get.getModifiers())
        && !get.isSynthetic()
        && !get.getReturnType().getSimpleName().endsWith("Builder")
        && !Set.of(
                "hash",
                "hashCode",
                "toString",
                "withoutWorkers",
                "source",
                "nodes",
                "asksMaster",
                "blockLocator")
            .contains(get.getName());
  }

  private static @Nullable Object got(Method get, Object of) {
    try {
      get.setAccessible(true);
      return get.invoke(of);
    } catch (ReflectiveOperationException e) {
      throw new LinkageError(get + " can't be read", e);
    }
  }

  private static String path(String path, String name) {
    String snake = name.replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT);
    if (path.isEmpty()
        || path.equals("dispatch")
        || path.equals("parts")
        || snake.equals("rules")) {
      return path.isEmpty() && snake.equals("injection")
          ? "knowledge.injection"
          : path.isEmpty() && snake.equals("knowledge_registry")
              ? "knowledge.registry"
              : snake.equals("rules") ? path : snake;
    }
    return path + "." + snake;
  }
}
