package dev.warmpath.fake.grpc;

import static dev.warmpath.fake.grpc.GrpcClient.all;
import static dev.warmpath.fake.grpc.GrpcClient.failure;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.fake.FakeEngine;
import dev.warmpath.fake.fault.Fault;
import dev.warmpath.fake.fault.Scope;
import dev.warmpath.fake.grpc.GrpcClient.Taker;
import dev.warmpath.fake.kv.KvEventSettings;
import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.hash.BlockHashes;
import dev.warmpath.hash.HashParams;
import dev.warmpath.hash.HashSchemes;
import dev.warmpath.hash.Retention;
import dev.warmpath.proto.sglang.scheduler.SglangSchedulerGrpc;
import dev.warmpath.proto.smg.KvBlock;
import dev.warmpath.proto.smg.KvCacheEvent;
import dev.warmpath.proto.smg.KvEventBatch;
import dev.warmpath.proto.smg.SubscribeKvEventsRequest;
import dev.warmpath.proto.vllm.engine.GenerateRequest;
import dev.warmpath.proto.vllm.engine.SamplingParams;
import dev.warmpath.proto.vllm.engine.TokenizedInput;
import dev.warmpath.proto.vllm.engine.VllmEngineGrpc;
import dev.warmpath.worker.EngineKind;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.stub.ClientCalls;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The cache changes that smg's servicers stream. */
class GrpcKvEventsIT {
  private static final int BLOCK = 16;

  private static FakeEngine engine(EngineKind kind, KvEventSettings.Builder events) {
    return FakeEngine.builder()
        .kind(kind)
        .blockSize(BLOCK)
        .blocks(40)
        .timing(LatencyModel.instant())
        .kvEvents(events.build())
        .grpcPort(0)
        .start();
  }

  private static MethodDescriptor<SubscribeKvEventsRequest, KvEventBatch> method(EngineKind kind) {
    return kind == EngineKind.SGLANG
        ? SglangSchedulerGrpc.getSubscribeKvEventsMethod()
        : VllmEngineGrpc.getSubscribeKvEventsMethod();
  }

  /** Subscribes and waits for the headers, from which on everything is heard. */
  private static Taker<KvEventBatch> subscribe(GrpcClient client, EngineKind kind)
      throws InterruptedException {
    CountDownLatch heard = new CountDownLatch(1);
    Taker<KvEventBatch> taker = new Taker<>();
    ClientCall<SubscribeKvEventsRequest, KvEventBatch> call =
        client.channel().newCall(method(kind), io.grpc.CallOptions.DEFAULT);
    ClientCalls.asyncServerStreamingCall(
        new io.grpc.ForwardingClientCall.SimpleForwardingClientCall<>(call) {
          @Override
          public void start(Listener<KvEventBatch> listener, Metadata headers) {
            super.start(
                new io.grpc.ForwardingClientCallListener.SimpleForwardingClientCallListener<>(
                    listener) {
                  @Override
                  public void onHeaders(Metadata received) {
                    heard.countDown();
                    super.onHeaders(received);
                  }
                },
                headers);
          }
        },
        SubscribeKvEventsRequest.newBuilder().setStartSequenceNumber(7).build(),
        taker);
    assertThat(heard.await(30, TimeUnit.SECONDS)).isTrue();
    return taker;
  }

  private static int[] prompt(int tokens, int from) {
    return IntStream.range(from, from + tokens).toArray();
  }

  /** Generates one token over gRPC. */
  private static void generate(GrpcClient client, EngineKind kind, int[] prompt) {
    if (kind == EngineKind.VLLM) {
      TokenizedInput.Builder input = TokenizedInput.newBuilder();
      Arrays.stream(prompt).forEach(input::addInputIds);
      assertThat(
              all(
                  VllmEngineGrpc.newBlockingStub(client.channel())
                      .generate(
                          GenerateRequest.newBuilder()
                              .setTokenized(input)
                              .setSamplingParams(
                                  SamplingParams.newBuilder()
                                      .setTopP(1)
                                      .setN(1)
                                      .setRepetitionPenalty(1)
                                      .setMaxTokens(1))
                              .build())))
          .hasSize(1);
      return;
    }
    var input = dev.warmpath.proto.sglang.scheduler.TokenizedInput.newBuilder();
    Arrays.stream(prompt).forEach(input::addInputIds);
    assertThat(
            all(
                SglangSchedulerGrpc.newBlockingStub(client.channel())
                    .generate(
                        dev.warmpath.proto.sglang.scheduler.GenerateRequest.newBuilder()
                            .setTokenized(input)
                            .setSamplingParams(
                                dev.warmpath.proto.sglang.scheduler.SamplingParams.newBuilder()
                                    .setTopP(1)
                                    .setTopK(-1)
                                    .setN(1)
                                    .setRepetitionPenalty(1)
                                    .setMaxNewTokens(1))
                            .build())))
        .hasSize(1);
  }

  private static BlockHashes hashes(EngineKind kind, int[] prompt) {
    String scheme = kind == EngineKind.SGLANG ? "sglang-event" : "vllm-sha256";
    return HashSchemes.byName(scheme, HashParams.builder().blockSize(BLOCK).build())
        .newChain(Retention.DIGESTS)
        .append(prompt)
        .finish()
        .hashes();
  }

  @ParameterizedTest
  @EnumSource(
      value = EngineKind.class,
      names = {"SGLANG", "VLLM"})
  void tellsOfStoredBlocks(EngineKind kind) throws Exception {
    try (FakeEngine engine = engine(kind, KvEventSettings.builder());
        GrpcClient client = new GrpcClient(engine)) {
      Taker<KvEventBatch> taker = subscribe(client, kind);
      int[] prompt = prompt(40, 100);
      generate(client, kind, prompt);
      KvEventBatch batch = taker.next();
      BlockHashes expected = hashes(kind, prompt);
      assertThat(batch.getSequenceNumber()).isZero();
      assertThat(batch.getTimestamp()).isGreaterThan(1.7e9);
      assertThat(batch.getDpRank()).isZero();
      assertThat(batch.getEventsList()).extracting(KvCacheEvent::getEventId).startsWith(1L);
      // SGLang tells of every page by itself, vLLM of both blocks at once.
      assertThat(batch.getEventsCount()).isEqualTo(kind == EngineKind.SGLANG ? 2 : 1);
      List<KvBlock> blocks = new ArrayList<>();
      for (KvCacheEvent event : batch.getEventsList()) {
        assertThat(event.getStored().hasParentBlockHash()).isEqualTo(!blocks.isEmpty());
        if (!blocks.isEmpty()) {
          assertThat(event.getStored().getParentBlockHash()).isEqualTo(expected.bits(0));
        }
        blocks.addAll(event.getStored().getBlocksList());
      }
      assertThat(blocks).hasSize(2);
      for (int i = 0; i < 2; i++) {
        assertThat(blocks.get(i).getBlockHash()).isEqualTo(expected.bits(i));
        assertThat(blocks.get(i).getBlockSize()).isEqualTo(BLOCK);
        assertThat(blocks.get(i).getTokenIdsList())
            .containsExactlyElementsOf(
                Arrays.stream(prompt, i * BLOCK, (i + 1) * BLOCK).boxed().toList());
        assertThat(blocks.get(i).hasCacheLevel()).isFalse();
      }
      assertThat(engine.flushCache()).isTrue();
      KvEventBatch cleared = taker.next();
      assertThat(cleared.getSequenceNumber()).isEqualTo(1);
      assertThat(cleared.getEvents(0).hasCleared()).isTrue();
    }
  }

  @Test
  void whoHearsEverythingKnowsWhatIsResident() throws Exception {
    try (FakeEngine engine = engine(EngineKind.VLLM, KvEventSettings.builder());
        GrpcClient client = new GrpcClient(engine)) {
      Taker<KvEventBatch> taker = subscribe(client, EngineKind.VLLM);
      for (int i = 0; i < 40; i++) {
        generate(client, EngineKind.VLLM, prompt(16 + 16 * (i % 9), 500 * (i % 7)));
      }
      int cached = engine.stats().cachedBlocks();
      assertThat(engine.flushCache()).isTrue();
      Set<Long> resident = new HashSet<>();
      boolean evicted = false;
      for (KvEventBatch batch = taker.next();
          !batch.getEvents(0).hasCleared();
          batch = taker.next()) {
        for (KvCacheEvent event : batch.getEventsList()) {
          for (KvBlock block : event.getStored().getBlocksList()) {
            assertThat(resident.add(block.getBlockHash())).isTrue();
          }
          for (long hash : event.getRemoved().getBlockHashesList()) {
            assertThat(resident.remove(hash)).isTrue();
            evicted = true;
          }
        }
      }
      assertThat(evicted).isTrue();
      assertThat(resident).isNotEmpty().hasSizeLessThanOrEqualTo(cached);
    }
  }

  @Test
  void suffersWhatZeroMqDoes() throws Exception {
    try (FakeEngine engine = engine(EngineKind.SGLANG, KvEventSettings.builder());
        GrpcClient client = new GrpcClient(engine)) {
      Taker<KvEventBatch> taker = subscribe(client, EngineKind.SGLANG);
      engine.faults().add(Fault.drop().after(1).times(1));
      engine.faults().add(Fault.duplicate().after(2).times(1));
      for (int i = 0; i < 4; i++) {
        assertThat(engine.flushCache()).isTrue();
      }
      List<Long> numbers = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        numbers.add(taker.next().getSequenceNumber());
      }
      assertThat(numbers).containsExactly(0L, 2L, 2L, 3L);
      engine.faults().set(List.of(Fault.restart().on(Scope.EVENTS)));
      assertThat(engine.flushCache()).isTrue();
      assertThat(taker.end().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
      Taker<KvEventBatch> again = subscribe(client, EngineKind.SGLANG);
      assertThat(engine.flushCache()).isTrue();
      assertThat(again.next().getSequenceNumber()).isEqualTo(1);
    }
  }

  @Test
  void slowSubscribersLoseWhatTheyDoNotTake() throws Exception {
    try (FakeEngine engine = engine(EngineKind.SGLANG, KvEventSettings.builder().highWaterMark(4));
        GrpcClient client = new GrpcClient(engine, 65_535)) {
      Map<String, Long> taken = new HashMap<>();
      ClientCall<SubscribeKvEventsRequest, KvEventBatch> call =
          client.channel().newCall(method(EngineKind.SGLANG), io.grpc.CallOptions.DEFAULT);
      CountDownLatch heard = new CountDownLatch(1);
      Taker<KvEventBatch> taker = new Taker<>();
      call.start(
          new ClientCall.Listener<>() {
            @Override
            public void onHeaders(Metadata headers) {
              heard.countDown();
            }

            @Override
            public void onMessage(KvEventBatch batch) {
              taker.onNext(batch);
            }
          },
          new Metadata());
      call.sendMessage(SubscribeKvEventsRequest.getDefaultInstance());
      call.halfClose();
      assertThat(heard.await(30, TimeUnit.SECONDS)).isTrue();
      // Reads nothing until more was published than fits into the window and the queue.
      int[] prompt = prompt(BLOCK * 32, 0);
      for (int i = 0; i < 100; i++) {
        generate(client, EngineKind.SGLANG, prompt);
        assertThat(engine.flushCache()).isTrue();
      }
      call.request(1_000);
      taken.put("last", taker.next().getSequenceNumber());
      boolean gap = false;
      while (!gap) {
        long number = taker.next().getSequenceNumber();
        gap = number != taken.put("last", number) + 1;
        if (taker.messages.isEmpty()) {
          assertThat(engine.flushCache()).isTrue();
        }
      }
      call.cancel("heard enough", null);
    }
  }

  @Test
  void isNotThereWithoutEvents() {
    try (FakeEngine engine = FakeEngine.builder().grpcPort(0).start();
        GrpcClient client = new GrpcClient(engine)) {
      assertThat(
              failure(
                      () ->
                          all(
                              SglangSchedulerGrpc.newBlockingStub(client.channel())
                                  .subscribeKvEvents(
                                      SubscribeKvEventsRequest.getDefaultInstance())))
                  .getCode())
          .isEqualTo(Status.Code.UNIMPLEMENTED);
    }
  }
}
