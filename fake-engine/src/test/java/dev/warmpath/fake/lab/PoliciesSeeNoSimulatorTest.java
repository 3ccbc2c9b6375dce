package dev.warmpath.fake.lab;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.fake.FleetSpec;
import dev.warmpath.policy.Policies;
import dev.warmpath.policy.RouteContext;
import dev.warmpath.policy.WeightedScorer;
import java.lang.reflect.Field;
import java.lang.reflect.InaccessibleObjectException;
import java.lang.reflect.Modifier;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * A policy knows what its context gives it. Here everything that can be reached from contexts of a
 * run is followed, field by field: nothing of the simulator may be among it.
 */
class PoliciesSeeNoSimulatorTest {
  private static final String FLOORS =
      "dev\\.warmpath\\.(fake|worker|api|transport|health|hash|prompt|index|policy)\\..*";

  private static final String ANONYMOUS = "dev\\.warmpath\\.(?!fake\\.).*\\$\\d+";

  private final List<RouteContext> contexts = new ArrayList<>();

  @Test
  void nothingOfTheSimulatorCanBeReachedFromAContext() {
    LabSettings settings = LabSettings.builder().fleet(new FleetSpec(3, 0, 0)).build();
    LabPolicy spy =
        LabPolicy.of(
            "spy",
            (network, of) ->
                Policies.scored(
                    "spy",
                    List.of(
                        new WeightedScorer(
                            "none",
                            (context, candidate, state, matched) -> {
                              contexts.add(context);
                              return 0;
                            },
                            1))));
    try (LabRun run =
        new LabRun(settings, spy.variants().get(0), LabObserver.NONE, RankDrives.VIRTUAL)) {
      run.run("spy", Traffic.chats(10, 3));
    }

    assertThat(contexts).hasSizeGreaterThan(30);
    Set<String> reached =
        reachable(contexts).stream()
            .map(object -> object.getClass().getName())
            .collect(Collectors.toSet());
    assertThat(reached)
        .contains("dev.warmpath.prompt.Prompt", "dev.warmpath.health.RankState")
        .noneMatch(name -> name.startsWith("dev.warmpath.fake"));
  }

  @Test
  void theWalkFindsWhatIsHidden() {
    AtomicReference<Object> hidden = new AtomicReference<>(Map.of("key", new Object[] {this}));

    assertThat(reachable(List.of(new Holder(hidden)))).contains(this);
  }

  private record Holder(Object held) {}

  private static Set<Object> reachable(Collection<?> roots) {
    Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    ArrayDeque<Object> next = new ArrayDeque<>(roots);
    while (!next.isEmpty()) {
      Object object = next.poll();
      if (object instanceof Class<?>
          || object instanceof Thread
          || closed(object.getClass().getName())
          || !seen.add(object)) {
        continue;
      }
      if (object instanceof Map<?, ?> map) {
        map.forEach(
            (key, value) -> {
              next.add(key);
              next.add(value);
            });
      } else if (object instanceof Collection<?> collection) {
        collection.forEach(next::add);
      } else if (object instanceof Object[] array) {
        for (Object element : array) {
          if (element != null) {
            next.add(element);
          }
        }
      } else if (object instanceof AtomicReference<?> reference) {
        addIfPresent(next, reference.get());
      } else if (object instanceof AtomicReferenceArray<?> array) {
        for (int i = 0; i < array.length(); i++) {
          addIfPresent(next, array.get(i));
        }
      } else {
        fields(object, next);
      }
    }
    return seen;
  }

  /**
   * Packages above a policy's floor, which no policy can name (a test of the architecture holds
   * that line), lambdas and the product's anonymous classes, whose captured values nobody can read,
   * and their clocks.
   */
  private static boolean closed(String type) {
    return type.contains("$$Lambda")
        || type.matches(ANONYMOUS)
        || (type.startsWith("dev.warmpath.") && !type.matches(FLOORS));
  }

  private static void fields(Object object, ArrayDeque<Object> next) {
    for (Class<?> type = object.getClass(); type != null; type = type.getSuperclass()) {
      for (Field field : type.getDeclaredFields()) {
        if (!field.getType().isPrimitive() && !Modifier.isStatic(field.getModifiers())) {
          try {
            field.setAccessible(true);
            addIfPresent(next, field.get(object));
          } catch (InaccessibleObjectException | IllegalAccessException e) {
            // The JDK's own classes hold nothing of ours but what was looked into above.
          }
        }
      }
    }
  }

  private static void addIfPresent(ArrayDeque<Object> next, Object value) {
    if (value != null) {
      next.add(value);
    }
  }
}
