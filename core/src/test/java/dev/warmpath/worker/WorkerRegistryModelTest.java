package dev.warmpath.worker;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** The registry against a naive model, with a listener that meddles. */
class WorkerRegistryModelTest {
  private static final List<String> SOURCES = List.of("dns", "file");

  private enum Verb {
    ADD,
    REMOVE,
    DRAIN,
    RESUME,
    REPLACE,
    DISCOVER,
    RESTART,
    STALE_RESTART
  }

  private record Step(Verb verb, int worker, int ranks, int source, Set<Integer> listed) {}

  @Provide
  Arbitrary<Step> steps() {
    return Combinators.combine(
            Arbitraries.of(Verb.values()),
            Arbitraries.integers().between(0, 5),
            Arbitraries.integers().between(0, 4),
            Arbitraries.integers().between(0, 1),
            Arbitraries.integers().between(0, 5).set().ofMaxSize(6))
        .as(Step::new);
  }

  private static WorkerSpec spec(int worker, int ranks) {
    WorkerSpec.Builder builder = WorkerSpec.builder("http://w" + worker + ":1");
    return ranks == 0 ? builder.build() : builder.dpSize(ranks).build();
  }

  private static WorkerId id(int worker) {
    return WorkerId.parse("http://w" + worker + ":1");
  }

  /** What the registry should say of one worker. */
  private static final class ModelWorker {
    WorkerSpec spec;
    int discovered;
    boolean draining;

    ModelWorker(WorkerSpec spec) {
      this.spec = spec;
    }

    int ranks() {
      Integer configured = spec.dpSize();
      return configured != null ? configured : Math.max(1, discovered);
    }
  }

  private static final class Model {
    final Map<String, Map<WorkerId, WorkerSpec>> listed = new LinkedHashMap<>();
    final Set<WorkerId> removed = new HashSet<>();
    final Map<WorkerId, ModelWorker> workers = new TreeMap<>();

    void settle() {
      Map<WorkerId, WorkerSpec> wanted = new HashMap<>();
      listed.values().forEach(wanted::putAll); // the source that spoke first, first
      wanted.keySet().removeAll(removed);
      wanted.putAll(listed.getOrDefault(WorkerRegistry.RUNTIME_SOURCE, Map.of()));
      workers.keySet().retainAll(wanted.keySet());
      wanted.forEach(
          (id, spec) -> workers.computeIfAbsent(id, unused -> new ModelWorker(spec)).spec = spec);
    }
  }

  /** Watches what every listener is promised. */
  private static final class Watcher implements WorkerRegistry.Listener {
    private final WorkerRegistry registry;
    private final boolean meddles;
    private final Map<Long, WorkerId> epochs = new HashMap<>();
    private final Map<Long, String> holders = new HashMap<>();
    private final Map<WorkerId, Long> last = new HashMap<>();
    private long version;

    Watcher(WorkerRegistry registry, boolean meddles) {
      this.registry = registry;
      this.meddles = meddles;
    }

    @Override
    public void onChange(Topology before, Topology after) {
      assertThat(before.version()).isEqualTo(version);
      if (after.version() > 0) {
        assertThat(after.version()).isEqualTo(version + 1);
      }
      version = after.version();
      Set<Integer> slots = new HashSet<>();
      for (Worker worker : after.workers()) {
        // An epoch is one worker's, and no worker goes back to an older one.
        assertThat(epochs.merge(worker.epoch(), worker.id(), (a, b) -> a)).isEqualTo(worker.id());
        assertThat(last.merge(worker.id(), worker.epoch(), Math::max)).isEqualTo(worker.epoch());
        for (WorkerRank rank : worker.ranks()) {
          assertThat(slots.add(rank.slot())).as("slot %d is shared", rank.slot()).isTrue();
          assertThat(rank.slot()).isLessThan(after.slotCount());
          assertThat(WorkerRank.slotOf(rank.holderId())).isEqualTo(rank.slot());
          // A holder id means one rank of one incarnation, for ever.
          String who = rank + " of " + worker.epoch();
          assertThat(holders.merge(rank.holderId(), who, (a, b) -> a)).isEqualTo(who);
        }
      }
      assertThat(after.ranks()).hasSize(slots.size());
      if (meddles && after.version() % 7 == 3) {
        registry.drain(WorkerId.parse("http://w0:1"), after.version() % 2 == 0);
      }
    }
  }

  @Property(tries = 400)
  void theRegistryAgreesWithTheModel(@ForAll List<@net.jqwik.api.From("steps") Step> steps) {
    WorkerRegistry registry = new WorkerRegistry();
    Watcher watcher = new Watcher(registry, false);
    registry.subscribe(watcher);
    Model model = new Model();
    for (Step step : steps) {
      long before = registry.current().version();
      apply(step, registry, model);
      assertThat(registry.current().version()).isBetween(before, before + 1);
      assertThat(watcher.version).isEqualTo(registry.current().version());
      compare(registry.current(), model);
    }
  }

  @Property(tries = 200)
  void listenersThatMeddleStillHearEverythingInOrder(
      @ForAll List<@net.jqwik.api.From("steps") Step> steps) {
    WorkerRegistry registry = new WorkerRegistry();
    Watcher first = new Watcher(registry, true);
    Watcher second = new Watcher(registry, false);
    registry.subscribe(first);
    registry.subscribe(second);
    for (Step step : steps) {
      apply(step, registry, new Model());
      assertThat(first.version).isEqualTo(registry.current().version());
      assertThat(second.version).isEqualTo(registry.current().version());
    }
  }

  private static void apply(Step step, WorkerRegistry registry, Model model) {
    WorkerId id = id(step.worker());
    Worker present = registry.current().worker(id);
    ModelWorker expected = model.workers.get(id);
    switch (step.verb()) {
      case ADD -> {
        WorkerSpec spec = spec(step.worker(), step.ranks());
        registry.add(spec);
        model.removed.remove(id);
        model
            .listed
            .computeIfAbsent(WorkerRegistry.RUNTIME_SOURCE, unused -> new HashMap<>())
            .put(id, spec);
      }
      case REMOVE -> {
        assertThat(registry.remove(id)).isEqualTo(present != null);
        if (present != null) {
          model.removed.add(id);
        }
        model.listed.values().forEach(specs -> specs.remove(id));
      }
      case DRAIN, RESUME -> {
        boolean draining = step.verb() == Verb.DRAIN;
        assertThat(registry.drain(id, draining)).isEqualTo(present != null);
        if (expected != null) {
          expected.draining = draining;
        }
      }
      case REPLACE -> {
        List<WorkerSpec> specs =
            step.listed().stream().map(worker -> spec(worker, step.ranks())).toList();
        registry.replace(SOURCES.get(step.source()), specs);
        Map<WorkerId, WorkerSpec> map = new HashMap<>();
        specs.forEach(spec -> map.put(spec.id(), spec));
        model.listed.put(SOURCES.get(step.source()), map);
      }
      case DISCOVER -> {
        if (present != null) {
          assertThat(registry.discovered(id, present.epoch(), said(step.ranks()))).isTrue();
        }
        if (expected != null) {
          expected.discovered = step.ranks();
        }
      }
      case RESTART -> {
        if (present != null) {
          assertThat(registry.restarted(id, present.epoch(), said(step.ranks()))).isTrue();
          Worker renewed = java.util.Objects.requireNonNull(registry.current().worker(id));
          assertThat(renewed.epoch()).isGreaterThan(present.epoch());
        }
        if (expected != null) {
          expected.discovered = step.ranks();
        }
      }
      case STALE_RESTART -> assertThat(registry.restarted(id, 1_000_000)).isFalse();
    }
    model.settle();
  }

  private static WorkerCapabilities said(int ranks) {
    return new WorkerCapabilities(
        EngineKind.VLLM, null, null, List.of(), ranks == 0 ? null : ranks, null, null, null, null);
  }

  private static void compare(Topology topology, Model model) {
    assertThat(topology.workers().stream().map(Worker::id))
        .containsExactlyInAnyOrderElementsOf(model.workers.keySet());
    for (Worker worker : topology.workers()) {
      ModelWorker expected = model.workers.get(worker.id());
      assertThat(worker.spec()).isEqualTo(expected.spec);
      assertThat(worker.ranks()).hasSize(expected.ranks());
      assertThat(worker.state() == WorkerState.DRAINING).isEqualTo(expected.draining);
    }
  }
}
