package dev.warmpath.knowledge;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.warmpath.health.Availability;
import dev.warmpath.health.Fleet;
import dev.warmpath.health.FleetView;
import dev.warmpath.health.LoadSnapshot;
import dev.warmpath.health.RankState;
import dev.warmpath.knowledge.KnowledgeRegistry.TargetReport;
import dev.warmpath.transport.RankLoad;
import dev.warmpath.worker.CandidateSet;
import dev.warmpath.worker.VirtualScheduler;
import dev.warmpath.worker.WorkerRegistry;
import dev.warmpath.worker.WorkerRole;
import dev.warmpath.worker.WorkerSpec;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class TargetGroupsTest {
  private static final KnowledgeLink FAST = KnowledgeLink.measured(10_000, 0.1);
  private static final KnowledgeLink SLOW = KnowledgeLink.measured(10, 9);

  private final VirtualScheduler time = new VirtualScheduler();
  private final KnowledgeRegistry registry =
      new KnowledgeRegistry(
          RegistrySettings.DEFAULT, InstantSource.fixed(Instant.EPOCH), time::nanoTime);
  private final RequestRates rates = new RequestRates(time::nanoTime);
  private final TargetGroups groups =
      new TargetGroups(registry, Map.of("g", Map.of("a", SLOW, "b", SLOW)), Map.of("g", 6), rates);
  private final WorkerRegistry workers = new WorkerRegistry();
  private final Fleet fleet = new Fleet(workers, rank -> {});

  @AfterEach
  void close() {
    fleet.close();
  }

  private void workers(String... specs) {
    workers.replace("test", Stream.of(specs).map(WorkerSpec::parse).toList());
  }

  private CandidateSet candidates() {
    return fleet.view().topology().candidates(null, WorkerRole.REGULAR);
  }

  private List<KnowledgeTarget> targets() {
    return groups.targets(groups.grouping(candidates()), fleet.view());
  }

  private RankState state(int i) {
    FleetView view = fleet.view();
    return view.state(candidates().get(i));
  }

  private void registered(String id, String host, int port) {
    Registration said =
        new Registration(
            id,
            host,
            port,
            List.of(),
            List.of(),
            1,
            JsonNodeFactory.instance.objectNode(),
            Instant.EPOCH);
    boolean unused =
        registry.registerTarget(
            new TargetEntry(
                said,
                OptionalInt.of(8),
                1,
                0,
                "lru",
                OptionalInt.empty(),
                OptionalDouble.empty(),
                OptionalDouble.empty(),
                Map.of("a", FAST),
                null,
                null,
                Instant.EPOCH,
                time.nanoTime()));
  }

  @Test
  void aWorkerIsATargetByItselfUnlessItsLabelNamesOne() {
    workers("http://w:1;knowledge-target=g", "http://w:2", "http://w:3;knowledge-target=g");

    assertThat(targets())
        .extracting(KnowledgeTarget::id)
        .containsExactlyInAnyOrder("g", "http://w:2");
    TargetGroups.Grouping grouping = groups.grouping(candidates());
    assertThat(grouping).isSameAs(groups.grouping(candidates()));
    assertThat(grouping.targetOf().get(candidates().get(0).worker().id())).isEqualTo("g");
  }

  @Test
  void anOperatorsLinksAndCapacityHoldUntilATargetTellsItsOwn() {
    workers("http://w:1;knowledge-target=g");
    assertThat(targets().get(0).links()).containsEntry("a", SLOW);
    assertThat(targets().get(0).capacity()).hasValue(6);

    registered("g", "10.0.0.1", 1);

    assertThat(targets().get(0).links()).containsEntry("a", FAST).containsEntry("b", SLOW);
    assertThat(targets().get(0).capacity()).hasValue(8);
  }

  @Test
  void aWorkerBehindTheAddressOfATargetThatRegisteredIsIts() {
    workers("http://10.0.0.7:8001");
    registered("pxy", "10.0.0.7", 8001);

    assertThat(targets()).extracting(KnowledgeTarget::id).containsExactly("pxy");
  }

  @Test
  void whatIsReportedCountsThenOwnCountsAndElseNothingIsKnown() {
    workers("http://w:1;knowledge-target=g");
    registered("g", "10.0.0.1", 1);
    state(0).begin(10, true);
    for (int i = 0; i < 30; i++) {
      rates.count(candidates().get(0).toString());
    }
    assertThat(targets().get(0).inFlight()).isEqualTo(1);
    assertThat(targets().get(0).requestsPerSecond()).hasValue(0.5);
    assertThat(targets().get(0).gpuUtilisation()).isEmpty();

    report(new TargetReport(OptionalInt.of(5), OptionalDouble.of(9), OptionalDouble.of(71)));
    assertThat(targets().get(0).inFlight()).isEqualTo(5);
    assertThat(targets().get(0).requestsPerSecond()).hasValue(9);
    assertThat(targets().get(0).gpuUtilisation()).hasValue(71);

    time.advance(Duration.ofSeconds(61)); // a report that is too old is none
    assertThat(targets().get(0).inFlight()).isEqualTo(1);
    assertThat(targets().get(0).requestsPerSecond()).hasValue(0);
    assertThat(targets().get(0).gpuUtilisation()).isEmpty();
  }

  private void report(TargetReport report) {
    boolean unused =
        registry.updateTarget("g", entry -> report.applyTo(entry, Instant.EPOCH, time.nanoTime()));
  }

  @Test
  void telemetryShowsWhatOthersSent() {
    workers("http://w:1;knowledge-target=x", "http://w:2;knowledge-target=x");
    double unknown = Double.NaN;
    RankLoad load =
        new RankLoad(-1, 3, 2, unknown, unknown, unknown, 16, unknown, unknown, unknown);
    state(0).observe(new LoadSnapshot(load, time.nanoTime(), "test"));
    assertThat(targets().get(0).inFlight()).isEqualTo(5);
    assertThat(targets().get(0).capacity()).isEmpty(); // of one of two workers

    state(1).observe(new LoadSnapshot(load, time.nanoTime(), "test"));
    assertThat(targets().get(0).inFlight()).isEqualTo(10);
    assertThat(targets().get(0).capacity()).hasValue(32);
  }

  @Test
  void aTargetThatIsDownComesOnlyWhereAllAre() {
    workers("http://w:1", "http://w:2");
    state(0).probed(Availability.DOWN);
    assertThat(targets()).hasSize(1);

    state(1).probed(Availability.DOWN);
    assertThat(targets()).hasSize(2);
  }

  @Test
  void aMinutesCountsAreForgottenSecondBySecond() {
    rates.count("r");
    time.advance(Duration.ofSeconds(30));
    rates.count("r");
    assertThat(rates.perSecond("r")).isEqualTo(2 / 60.0);
    time.advance(Duration.ofSeconds(31));
    assertThat(rates.perSecond("r")).isEqualTo(1 / 60.0);
    time.advance(Duration.ofHours(2));
    assertThat(rates.perSecond("r")).isZero();
    assertThat(rates.perSecond("unheard of")).isZero();
  }
}
