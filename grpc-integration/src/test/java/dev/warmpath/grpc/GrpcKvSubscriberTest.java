package dev.warmpath.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.warmpath.hash.BlockHashes;
import dev.warmpath.hash.HashParams;
import dev.warmpath.hash.HashSchemes;
import dev.warmpath.index.BlockIndex;
import dev.warmpath.index.BlockMatches;
import dev.warmpath.index.KvStream;
import dev.warmpath.index.kv.KvEventSettings;
import dev.warmpath.index.kv.KvEventStats;
import dev.warmpath.index.kv.KvEvents;
import dev.warmpath.proto.sglang.scheduler.SglangSchedulerGrpc;
import dev.warmpath.proto.smg.KvBlock;
import dev.warmpath.proto.smg.KvBlocksRemoved;
import dev.warmpath.proto.smg.KvBlocksStored;
import dev.warmpath.proto.smg.KvCacheCleared;
import dev.warmpath.proto.smg.KvCacheEvent;
import dev.warmpath.proto.smg.KvEventBatch;
import dev.warmpath.proto.smg.SubscribeKvEventsRequest;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerRank;
import dev.warmpath.worker.WorkerRegistry;
import dev.warmpath.worker.WorkerSpec;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a scripted service tells, and what is known then; time passes when a test says so. */
@Timeout(30)
class GrpcKvSubscriberTest {
  private static final int BLOCK = 16;
  private static final long SILENCE_MILLIS = 10_000;

  private final String name = InProcessServerBuilder.generateName();
  private final LinkedBlockingQueue<Subscribed> subscribed = new LinkedBlockingQueue<>();
  private final ManualThread thread = new ManualThread();
  private final GrpcTransport transport =
      GrpcTransport.builder()
          .channels(id -> InProcessChannelBuilder.forName(name).directExecutor().build())
          .build();
  private final GrpcKvSubscriber subscriber =
      new GrpcKvSubscriber(transport, KvEventSettings.DEFAULT, thread, new SplittableRandom(7));
  private final WorkerRegistry registry = new WorkerRegistry();
  private final BlockIndex index = BlockIndex.builder().build();
  private final KvEvents events =
      new KvEvents(index, BLOCK, KvEventSettings.DEFAULT, List.of(subscriber));
  private final BlockMatches matches = new BlockMatches();
  private final WorkerSpec spec = spec().build();
  private Server server;

  /** A call that the service got. */
  private record Subscribed(long start, ServerCallStreamObserver<KvEventBatch> stream) {
    void tell(long number, KvCacheEvent.Builder... events) {
      KvEventBatch.Builder batch =
          KvEventBatch.newBuilder().setSequenceNumber(number).setTimestamp(1_000.0 + number);
      for (KvCacheEvent.Builder event : events) {
        batch.addEvents(event);
      }
      stream.onNext(batch.build());
    }

    void fail(Status status) {
      stream.onError(status.asRuntimeException());
    }
  }

  private static WorkerSpec.Builder spec() {
    return WorkerSpec.builder("grpc://engine:20000")
        .engine(EngineKind.SGLANG)
        .models(List.of("m"))
        .label("grpc", "sglang-scheduler");
  }

  @BeforeEach
  void start() throws IOException {
    server =
        InProcessServerBuilder.forName(name)
            .directExecutor()
            .addService(
                new SglangSchedulerGrpc.SglangSchedulerImplBase() {
                  @Override
                  public void subscribeKvEvents(
                      SubscribeKvEventsRequest request, StreamObserver<KvEventBatch> observer) {
                    subscribed.add(
                        new Subscribed(
                            request.getStartSequenceNumber(),
                            (ServerCallStreamObserver<KvEventBatch>) observer));
                  }
                })
            .build()
            .start();
    registry.subscribe(events);
    registry.add(spec);
  }

  @AfterEach
  void stop() throws InterruptedException {
    events.close();
    transport.close();
    assertThat(thread.awaitTermination(60, TimeUnit.SECONDS)).isTrue();
    server.shutdownNow();
  }

  private Subscribed next() throws InterruptedException {
    return Objects.requireNonNull(subscribed.poll(60, TimeUnit.SECONDS), "nobody subscribed");
  }

  private WorkerRank rank() {
    return worker().ranks().get(0);
  }

  private Worker worker() {
    return Objects.requireNonNull(registry.current().worker(spec.id()));
  }

  private static BlockHashes prompt(int blocks) {
    HashParams params = HashParams.builder().model("m").blockSize(BLOCK).build();
    int[] tokens = IntStream.range(0, blocks * BLOCK).toArray();
    return HashSchemes.content(params).newChain().append(tokens).hashes();
  }

  /** Blocks of the prompt, the first of which goes by the hash 1. */
  private static KvCacheEvent.Builder stored(int from, int end) {
    KvBlocksStored.Builder stored = KvBlocksStored.newBuilder();
    if (from > 0) {
      stored.setParentBlockHash(from);
    }
    for (int i = from; i < end; i++) {
      KvBlock.Builder block = KvBlock.newBuilder().setBlockHash(i + 1).setBlockSize(BLOCK);
      for (int token = i * BLOCK; token < (i + 1) * BLOCK; token++) {
        block.addTokenIds(token);
      }
      stored.addBlocks(block);
    }
    return KvCacheEvent.newBuilder().setStored(stored);
  }

  private static KvCacheEvent.Builder removed(long hash, int level) {
    return KvCacheEvent.newBuilder()
        .setRemoved(KvBlocksRemoved.newBuilder().addBlockHashes(hash).setCacheLevel(level));
  }

  private static KvCacheEvent.Builder cleared() {
    return KvCacheEvent.newBuilder().setCleared(KvCacheCleared.getDefaultInstance());
  }

  private int held() {
    index.match(prompt(8), matches);
    return matches.blocks(rank().holderId());
  }

  private void awaitHeld(int blocks) {
    await()
        .atMost(Duration.ofMinutes(1))
        .pollInterval(Duration.ofMillis(5))
        .until(() -> held() == blocks);
  }

  private boolean authoritative() {
    return index.authoritative(rank().holderId(), prompt(1).namespace());
  }

  private KvEventStats.Rank stats() {
    return events.stats().ranks().get(0);
  }

  private KvStream.Stats stream() {
    return stats().stream();
  }

  private void awaitBatches(long batches) {
    await()
        .atMost(Duration.ofMinutes(1))
        .pollInterval(Duration.ofMillis(5))
        .until(() -> stream().batches() == batches);
  }

  /** Until so many tasks wait for their time. */
  private void awaitWaiting(int tasks) {
    await()
        .atMost(Duration.ofMinutes(1))
        .pollInterval(Duration.ofMillis(5))
        .until(() -> thread.waiting() == tasks);
  }

  @Test
  void whatIsToldIsKnown() throws Exception {
    Subscribed stream = next();
    assertThat(stream.start()).isZero();
    stream.tell(0, stored(0, 3));
    awaitHeld(3);
    assertThat(authoritative()).isTrue();
    assertThat(stats().connected()).isTrue();
    stream.tell(1, removed(3, 1), stored(3, 5));
    awaitHeld(5);
    stream.tell(2, removed(5, 0));
    awaitHeld(4);
  }

  @Test
  void whoJoinsLateOrMissesSomethingKnowsAPart() throws Exception {
    Subscribed stream = next();
    stream.tell(5, stored(0, 2));
    awaitHeld(2);
    assertThat(authoritative()).isFalse();
    stream.tell(6, cleared(), stored(0, 3));
    awaitHeld(3);
    assertThat(authoritative()).isTrue();
    stream.tell(8, stored(0, 1));
    awaitHeld(1);
    assertThat(authoritative()).isFalse();
    assertThat(stream().gaps()).isEqualTo(1);
    assertThat(stream().losses()).isEqualTo(2);
    stream.tell(9, cleared());
    await().atMost(Duration.ofMinutes(1)).until(this::authoritative);
  }

  @Test
  void goesOnBehindTheLastBatch() throws Exception {
    Subscribed before = next();
    before.tell(0, stored(0, 2));
    awaitHeld(2);
    before.fail(Status.UNAVAILABLE);
    awaitWaiting(2);
    assertThat(stats().connected()).isFalse();
    thread.runWithin(50, 100);
    Subscribed after = next();
    assertThat(after.start()).isEqualTo(1);
    after.tell(1, stored(2, 4));
    awaitHeld(4);
    assertThat(authoritative()).isTrue();
    assertThat(stream().losses()).isZero();
    assertThat(thread.waiting()).as("heard again").isZero();
  }

  @Test
  void whatWasMissedMeanwhileShowsInTheNumbers() throws Exception {
    Subscribed before = next();
    before.tell(0, stored(0, 2));
    awaitHeld(2);
    before.fail(Status.UNAVAILABLE);
    awaitWaiting(2);
    thread.runWithin(50, 100);
    next().tell(3, stored(0, 1));
    awaitHeld(1);
    assertThat(authoritative()).isFalse();
  }

  @Test
  void aRestartedEngineBeginsAnew() throws Exception {
    Subscribed before = next();
    before.tell(0, stored(0, 2));
    before.tell(1, stored(2, 4));
    awaitHeld(4);
    before.fail(Status.UNAVAILABLE);
    awaitWaiting(2);
    thread.runWithin(50, 100);
    Subscribed after = next();
    after.stream()
        .onNext(KvEventBatch.newBuilder().setTimestamp(2_000).addEvents(stored(0, 1)).build());
    awaitHeld(1);
    assertThat(authoritative()).isTrue();
    assertThat(stream().restarts()).isEqualTo(1);
    long holder = rank().holderId();
    assertThat(registry.restarted(worker().id(), worker().epoch())).isTrue();
    assertThat(rank().holderId()).isNotEqualTo(holder);
    assertThat(held()).as("told by the new life").isEqualTo(1);
  }

  @Test
  void waitsLongerEachTimeAndForgetsWhatItHasNotHeardOfForLong() throws Exception {
    Subscribed stream = next();
    stream.tell(0, stored(0, 2));
    awaitHeld(2);
    server.shutdownNow();
    for (long longest : new long[] {100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000}) {
      awaitWaiting(2);
      thread.runWithin(longest / 2, longest);
    }
    awaitWaiting(2);
    assertThat(authoritative()).isTrue();
    thread.runWithin(SILENCE_MILLIS, SILENCE_MILLIS);
    awaitHeld(0);
    assertThat(authoritative()).isFalse();
  }

  @Test
  void whoseEventsAreOffIsAskedAgainInItsNextLife() throws Exception {
    Subscribed stream = next();
    stream.fail(Status.UNIMPLEMENTED);
    await().atMost(Duration.ofMinutes(1)).until(() -> subscriber.endpoint(rank()) == null);
    assertThat(thread.waiting()).isZero();
    assertThat(registry.restarted(worker().id(), worker().epoch())).isTrue();
    next().tell(0, stored(0, 2));
    awaitHeld(2);
    assertThat(authoritative()).isTrue();
  }

  @Test
  void takesNoMoreThanTheIndexKeepsUpWith() throws Exception {
    Subscribed stream = next();
    CountDownLatch slow = new CountDownLatch(1);
    thread.execute(
        () -> {
          try {
            slow.await();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        });
    int told = 0;
    while (stream.stream().isReady() && told < 1_000) {
      stream.tell(told++, cleared());
    }
    assertThat(told).isEqualTo(KvLink.MESSAGES_AHEAD);
    slow.countDown();
    awaitBatches(told);
    await().atMost(Duration.ofMinutes(1)).until(() -> stream.stream().isReady());
  }

  @Test
  void messagesThatAreNotTheRanksOrNotUnderstoodAreCounted() throws Exception {
    assertThat(next().stream()).isNotNull();
    registry.remove(worker().id());
    registry.add(spec().dpSize(2).build());
    Subscribed stream = next();
    stream.stream().onNext(KvEventBatch.newBuilder().setDpRank(1).build());
    stream.stream().onNext(KvEventBatch.newBuilder().setGroupEventsEnabled(true).build());
    stream.stream().onNext(KvEventBatch.newBuilder().setDpRank(0).build());
    awaitBatches(1);
    assertThat(stats().malformed()).isEqualTo(2);
    assertThat(events.stats().ranks()).as("the first rank's only").hasSize(1);
  }

  @Test
  void listensOnlyWhereAWorkerTellsByThisWay() {
    assertThat(endpoint(spec())).isEqualTo("grpc://engine:20000");
    assertThat(endpoint(spec().label("kv-events", "off"))).isNull();
    assertThat(endpoint(spec().label("kv-events", "tcp://*:5557"))).isNull();
    assertThat(endpoint(spec().label("grpc", "sglang"))).isNull();
    assertThat(endpoint(WorkerSpec.builder("http://engine:20000").engine(EngineKind.SGLANG)))
        .isNull();
  }

  private String endpoint(WorkerSpec.Builder of) {
    WorkerRegistry other = new WorkerRegistry();
    other.add(of.build());
    return subscriber.endpoint(other.current().ranks().get(0));
  }

  @Test
  void closingEndsTheCallAndTheThread() throws Exception {
    Subscribed stream = next();
    stream.tell(0, stored(0, 2));
    awaitHeld(2);
    events.close();
    events.close();
    await().atMost(Duration.ofMinutes(1)).until(() -> stream.stream().isCancelled());
    assertThat(thread.awaitTermination(60, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void aWorkerThatLeavesIsNoLongerListenedTo() throws Exception {
    Subscribed stream = next();
    registry.remove(worker().id());
    await().atMost(Duration.ofMinutes(1)).until(() -> stream.stream().isCancelled());
    assertThat(events.stats().ranks()).isEmpty();
    assertThat(thread.waiting()).isZero();
  }
}
