package dev.warmpath.fake;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.fake.fault.Fault;
import dev.warmpath.fake.fault.Scope;
import dev.warmpath.fake.kv.KvEventSettings;
import dev.warmpath.fake.scheduler.LatencyModel;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What can happen to published KV events, as a subscriber sees it. */
class KvFaultsIT {
  private FakeEngine engine;
  private KvSubscriber subscriber;

  @BeforeEach
  void start() {
    engine = engine(KvEventSettings.builder().replayPort(0));
    subscriber = new KvSubscriber(Objects.requireNonNull(engine.kvEvents()).url(0));
    while (!subscriber.arrives(engine::flushCache)) {
      assertThat(engine.kvEvents()).isNotNull();
    }
    assertThat(engine.faults().armed()).isEmpty();
  }

  @AfterEach
  void stop() {
    subscriber.close();
    engine.close();
  }

  private static FakeEngine engine(KvEventSettings.Builder events) {
    return FakeEngine.builder()
        .timing(LatencyModel.instant())
        .blockSize(16)
        .kvEvents(events.build())
        .start();
  }

  /** Makes the engine publish so many batches. */
  private void publish(int batches) {
    for (int i = 0; i < batches; i++) {
      assertThat(engine.flushCache()).isTrue();
    }
  }

  private List<Long> numbers(int batches) throws IOException {
    List<Long> numbers = new ArrayList<>();
    for (int i = 0; i < batches; i++) {
      numbers.add(subscriber.next().number());
    }
    return numbers;
  }

  private List<Long> replayed(long from) throws IOException {
    return KvSubscriber.replay(engine.kvEvents().replayUrl(0), from).stream()
        .map(KvSubscriber.Message::number)
        .toList();
  }

  /** The number of the next batch. */
  private long first() throws IOException {
    publish(1);
    return subscriber.next().number() + 1;
  }

  @Test
  void droppedBatchesCanBeReplayed() throws IOException {
    long first = first();
    engine.faults().add("drop:after=1,count=2");
    publish(4);
    assertThat(numbers(2)).containsExactly(first, first + 3);
    assertThat(replayed(first)).containsExactly(first, first + 1, first + 2, first + 3, -1L);
    assertThat(engine.faults().fired(Fault.Kind.DROP)).isEqualTo(2);
  }

  @Test
  void gapsAreForGood() throws IOException {
    long first = first();
    engine.faults().add(Fault.gap().after(1).times(1));
    publish(3);
    assertThat(numbers(2)).containsExactly(first, first + 2);
    assertThat(replayed(first)).containsExactly(first, first + 2, -1L);
  }

  @Test
  void duplicatesComeUnderOneNumber() throws IOException {
    long first = first();
    engine.faults().add(Fault.duplicate().times(1));
    publish(2);
    assertThat(numbers(3)).containsExactly(first, first, first + 1);
    assertThat(replayed(first)).containsExactly(first, first + 1, -1L);
  }

  @Test
  void restartBeginsTheNumbersAnew() throws IOException {
    long first = first();
    engine.faults().add(Fault.restart().on(Scope.EVENTS).after(1));
    publish(3);
    assertThat(numbers(3)).containsExactly(first, 0L, 1L);
    assertThat(replayed(0)).containsExactly(0L, 1L, -1L);
    assertThat(engine.stats().starts()).isEqualTo(1);
  }

  @Test
  void slowPublishersLoseNothing() throws IOException {
    long first = first();
    engine.faults().add("slow:on=events,delay=20ms,count=1");
    publish(3);
    assertThat(numbers(3)).containsExactly(first, first + 1, first + 2);
    assertThat(engine.faults().fired(Fault.Kind.SLOW)).isEqualTo(1);
  }

  @Test
  void subscribersThatDoNotReadLoseWhatTheyDoNotReach() throws IOException {
    try (FakeEngine small = engine(KvEventSettings.builder().replayPort(0).highWaterMark(4));
        KvSubscriber slow = new KvSubscriber(small.kvEvents().url(0), 4)) {
      while (!slow.arrives(small::flushCache)) {
        assertThat(small.kvEvents()).isNotNull();
      }
      long published = 0;
      long missed = 0;
      // What fits into the system's buffers is not known: publishes until something got lost.
      while (missed == 0) {
        for (int i = 0; i < 5_000; i++) {
          assertThat(small.flushCache()).isTrue();
        }
        published += 5_000;
        missed = published - slow.drain();
      }
      assertThat(missed).isPositive();
    }
  }

  @Test
  void faultsOfRequestsLeaveEventsAlone() throws Exception {
    long first = first();
    engine.faults().add("503:on=all,count=1");
    publish(2);
    assertThat(numbers(2)).containsExactly(first, first + 1);
    Client client = new Client(engine);
    assertThat(client.get("/v1/models").status()).isEqualTo(503);
    assertThat(client.get("/v1/models").status()).isEqualTo(200);
  }
}
