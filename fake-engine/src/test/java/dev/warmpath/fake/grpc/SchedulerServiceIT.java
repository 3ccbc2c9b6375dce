package dev.warmpath.fake.grpc;

import static dev.warmpath.fake.grpc.GrpcClient.all;
import static dev.warmpath.fake.grpc.GrpcClient.failure;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.fake.FakeEngine;
import dev.warmpath.fake.fault.Fault;
import dev.warmpath.fake.grpc.GrpcClient.Taker;
import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.fake.text.FakeTokenizer;
import dev.warmpath.proto.health.HealthCheckResponse.ServingStatus;
import dev.warmpath.proto.health.HealthGrpc;
import dev.warmpath.proto.sglang.scheduler.AbortRequest;
import dev.warmpath.proto.sglang.scheduler.EmbedRequest;
import dev.warmpath.proto.sglang.scheduler.GenerateComplete;
import dev.warmpath.proto.sglang.scheduler.GenerateRequest;
import dev.warmpath.proto.sglang.scheduler.GenerateResponse;
import dev.warmpath.proto.sglang.scheduler.GetLoadsRequest;
import dev.warmpath.proto.sglang.scheduler.GetLoadsResponse;
import dev.warmpath.proto.sglang.scheduler.GetModelInfoRequest;
import dev.warmpath.proto.sglang.scheduler.GetServerInfoRequest;
import dev.warmpath.proto.sglang.scheduler.GetServerInfoResponse;
import dev.warmpath.proto.sglang.scheduler.HealthCheckRequest;
import dev.warmpath.proto.sglang.scheduler.ListLoadedLoRAAdaptersRequest;
import dev.warmpath.proto.sglang.scheduler.LoadLoRAAdapterRequest;
import dev.warmpath.proto.sglang.scheduler.SamplingParams;
import dev.warmpath.proto.sglang.scheduler.SglangSchedulerGrpc;
import dev.warmpath.proto.sglang.scheduler.TokenizedInput;
import dev.warmpath.proto.smg.FlushCacheRequest;
import dev.warmpath.proto.smg.GetTokenizerChunk;
import dev.warmpath.proto.smg.GetTokenizerRequest;
import dev.warmpath.worker.EngineKind;
import io.grpc.Status;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** SGLang behind smg's servicer, by plain stubs over real sockets. */
class SchedulerServiceIT {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String PROMPT = "a prompt of several tokens that fills more than one block";

  private FakeEngine engine;
  private GrpcClient client;
  private SglangSchedulerGrpc.SglangSchedulerBlockingStub stub;

  @BeforeEach
  void start() {
    engine =
        FakeEngine.builder()
            .kind(EngineKind.SGLANG)
            .model("m")
            .blockSize(4)
            .loraAdapters("poet")
            .timing(LatencyModel.instant())
            .speedup(1_000)
            .grpcPort(0)
            .start();
    client = new GrpcClient(engine);
    stub = SglangSchedulerGrpc.newBlockingStub(client.channel());
  }

  @AfterEach
  void stop() {
    client.close();
    engine.close();
  }

  private static SamplingParams.Builder sampling(int tokens) {
    return SamplingParams.newBuilder()
        .setTemperature(1)
        .setTopP(1)
        .setTopK(-1)
        .setRepetitionPenalty(1)
        .setN(1)
        .setSkipSpecialTokens(true)
        .setSpacesBetweenSpecialTokens(true)
        .setMaxNewTokens(tokens);
  }

  private static GenerateRequest.Builder request(String id, SamplingParams.Builder sampling) {
    TokenizedInput.Builder input = TokenizedInput.newBuilder();
    Arrays.stream(FakeTokenizer.encode(PROMPT)).forEach(input::addInputIds);
    return GenerateRequest.newBuilder()
        .setRequestId(id)
        .setTokenized(input)
        .setSamplingParams(sampling);
  }

  private static String text(List<Integer> ids) {
    return FakeTokenizer.instance().decode(ids.stream().mapToInt(Integer::intValue).toArray());
  }

  private JsonNode overHttp(String path, String body) throws Exception {
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(engine.url() + path));
    if (body != null) {
      request.POST(HttpRequest.BodyPublishers.ofString(body));
    }
    return JSON.readTree(
        HttpClient.newHttpClient()
            .send(request.build(), HttpResponse.BodyHandlers.ofString())
            .body());
  }

  private GenerateComplete only(GenerateRequest.Builder request) {
    List<GenerateResponse> responses = all(stub.generate(request.build()));
    assertThat(responses).hasSize(1);
    return responses.get(0).getComplete();
  }

  @Test
  void plainAnswersHaveAllTokensAndTheTextOfHttp() throws Exception {
    JsonNode http =
        overHttp(
            "/generate",
            "{\"text\":\"" + PROMPT + "\",\"sampling_params\":{\"max_new_tokens\":9}}");
    assertThat(engine.flushCache()).isTrue();
    GenerateResponse response = stub.generate(request("r1", sampling(9)).build()).next();
    GenerateComplete complete = response.getComplete();
    assertThat(response.getRequestId()).isEqualTo("r1");
    assertThat(text(complete.getOutputIdsList())).isEqualTo(http.path("text").asText());
    assertThat(complete.getFinishReason()).isEqualTo("length");
    assertThat(complete.getPromptTokens()).isEqualTo(http.at("/meta_info/prompt_tokens").asInt());
    assertThat(complete.getCompletionTokens()).isEqualTo(9);
    assertThat(complete.getCachedTokens()).isZero();
    assertThat(complete.hasOutputLogprobs()).isFalse();
    assertThat(only(request("r2", sampling(1))).getCachedTokens()).isEqualTo(12);
    assertThat(engine.stats().served()).isEqualTo(3);
    assertThat(engine.stats().received()).isEqualTo(3);
  }

  @Test
  void streamsSayTheLastTokensTwice() {
    List<GenerateResponse> stream =
        all(stub.generate(request("s", sampling(5)).setStream(true).build()));
    assertThat(stream).hasSize(6);
    int total = 0;
    for (GenerateResponse each : stream.subList(0, 5)) {
      assertThat(each.getChunk().getTokenIdsCount()).isEqualTo(1);
      assertThat(each.getChunk().getCompletionTokens()).isEqualTo(++total);
      assertThat(each.getChunk().getPromptTokens()).isEqualTo(15);
    }
    GenerateComplete complete = stream.get(5).getComplete();
    assertThat(complete.getOutputIdsList()).isEqualTo(stream.get(4).getChunk().getTokenIdsList());
    assertThat(complete.getCompletionTokens()).isEqualTo(5);
    assertThat(complete.getFinishReason()).isEqualTo("length");
  }

  @Test
  void severalAnswersHaveTheirIndex() throws Exception {
    List<GenerateResponse> plain = all(stub.generate(request("n", sampling(3).setN(2)).build()));
    assertThat(plain).extracting(each -> each.getComplete().getIndex()).containsExactly(0, 1);
    JsonNode http =
        overHttp(
            "/generate",
            "{\"text\":\"" + PROMPT + "\",\"sampling_params\":{\"max_new_tokens\":3,\"n\":2}}");
    for (int i = 0; i < 2; i++) {
      assertThat(text(plain.get(i).getComplete().getOutputIdsList()))
          .isEqualTo(http.path(i).path("text").asText());
    }
    TreeMap<Integer, Integer> tokens = new TreeMap<>();
    for (GenerateResponse each :
        all(stub.generate(request("ns", sampling(3).setN(2)).setStream(true).build()))) {
      if (each.hasChunk()) {
        tokens.merge(each.getChunk().getIndex(), each.getChunk().getTokenIdsCount(), Integer::sum);
      }
    }
    assertThat(tokens).containsEntry(0, 3).containsEntry(1, 3).hasSize(2);
  }

  @Test
  void stopsEndAnswersAndAreNamed() {
    List<Integer> ids = only(request("all", sampling(8))).getOutputIdsList();
    String stop = text(ids.subList(3, 4)).substring(1);
    GenerateComplete byText = only(request("t", sampling(8).addStop(stop)));
    assertThat(byText.getOutputIdsList()).isEqualTo(ids.subList(0, 4));
    assertThat(byText.getFinishReason()).isEqualTo("stop");
    assertThat(byText.getMatchedStopStr()).isEqualTo(stop);
    GenerateComplete byToken = only(request("i", sampling(8).addStopTokenIds(ids.get(2))));
    assertThat(byToken.getOutputIdsList()).isEqualTo(ids.subList(0, 3));
    assertThat(byToken.getMatchedTokenId()).isEqualTo(ids.get(2));
    GenerateComplete natural = only(request("e", sampling(1).clearMaxNewTokens()));
    assertThat(natural.getFinishReason()).isEqualTo("stop");
    assertThat(natural.getOutputIdsCount()).isEqualTo(64);
    assertThat(natural.getMatchedTokenId()).isEqualTo(2);
  }

  @Test
  void logprobsComeWithEveryToken() {
    GenerateRequest.Builder request =
        request("l", sampling(4)).setReturnLogprob(true).setTopLogprobsNum(2);
    GenerateComplete complete = only(request);
    assertThat(complete.getOutputLogprobs().getTokenIdsList())
        .isEqualTo(complete.getOutputIdsList());
    assertThat(complete.getOutputLogprobs().getTokenLogprobsList())
        .hasSize(4)
        .allSatisfy(value -> assertThat(value).isBetween(-3f, 0f));
    assertThat(complete.getOutputLogprobs().getTopLogprobsList())
        .allSatisfy(top -> assertThat(top.getTokenIdsList()).hasSize(2));
    assertThat(complete.getOutputLogprobs().getTopLogprobs(1).getTokenIds(0))
        .isEqualTo(complete.getOutputIds(1));
    assertThat(complete.getInputLogprobs().getTokenIdsCount()).isEqualTo(15);
    assertThat(complete.getInputLogprobs().getTokenLogprobs(0).hasValue()).isFalse();
    assertThat(complete.getInputLogprobs().getTokenLogprobs(1).hasValue()).isTrue();
    List<GenerateResponse> stream = all(stub.generate(request.setStream(true).build()));
    assertThat(stream.get(0).getChunk().hasInputLogprobs()).isTrue();
    assertThat(stream.get(1).getChunk().hasInputLogprobs()).isFalse();
    assertThat(stream.get(1).getChunk().getOutputLogprobs().getTokenLogprobsList())
        .isEqualTo(complete.getOutputLogprobs().getTokenLogprobsList().subList(1, 2));
    assertThat(only(request("no", sampling(1)).setReturnLogprob(true).setLogprobStartLen(-1)))
        .matches(answer -> !answer.hasInputLogprobs() && answer.hasOutputLogprobs());
  }

  @Test
  void theZerosOfUnsetFieldsAreRefused() {
    Status unset = failure(() -> only(request("z", SamplingParams.newBuilder())));
    assertThat(unset.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
    assertThat(unset.getDescription()).contains("top_p");
    assertThat(failure(() -> only(request("n", sampling(1).setN(0)))).getCode())
        .isEqualTo(Status.Code.INVALID_ARGUMENT);
    assertThat(failure(() -> only(request("k", sampling(1).setTopK(0)))).getDescription())
        .contains("top_k");
    assertThat(failure(() -> only(request("p", sampling(1)).clearTokenized())).getDescription())
        .isEqualTo("Tokenized input must be provided");
    Status empty =
        failure(() -> only(request("e", sampling(1)).setTokenized(TokenizedInput.newBuilder())));
    assertThat(empty.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
    assertThat(empty.getDescription()).isEqualTo("prompt is empty");
  }

  @Test
  void cancelledRequestsAreAborted() throws Exception {
    engine.pause();
    Taker<GenerateResponse> taker = new Taker<>();
    io.grpc.Context.CancellableContext context = io.grpc.Context.current().withCancellation();
    context.run(
        () ->
            SglangSchedulerGrpc.newStub(client.channel())
                .generate(request("c", sampling(100)).setStream(true).build(), taker));
    await().atMost(Duration.ofMinutes(1)).until(() -> engine.stats().waiting() == 1);
    context.cancel(null);
    assertThat(taker.end().getCode()).isEqualTo(Status.Code.CANCELLED);
    await().atMost(Duration.ofMinutes(1)).until(() -> engine.stats().waiting() == 0);
    engine.resume();
    assertThat(engine.stats().running()).isZero();
    await().atMost(Duration.ofMinutes(1)).until(() -> engine.stats().aborted() == 1);
  }

  @Test
  void abortEndsARequestByItsId() throws Exception {
    engine.pause();
    Taker<GenerateResponse> taker = new Taker<>();
    SglangSchedulerGrpc.newStub(client.channel())
        .generate(request("victim", sampling(100).setN(2)).setStream(true).build(), taker);
    await().atMost(Duration.ofMinutes(1)).until(() -> engine.stats().waiting() == 2);
    assertThat(stub.abort(AbortRequest.newBuilder().setRequestId("vic").build()).getSuccess())
        .isFalse();
    assertThat(stub.abort(AbortRequest.newBuilder().setRequestId("victim").build()).getSuccess())
        .isTrue();
    engine.resume();
    assertThat(taker.end()).isEqualTo(Status.OK);
    assertThat(taker.messages)
        .filteredOn(GenerateResponse::hasComplete)
        .extracting(each -> each.getComplete().getFinishReason())
        .containsExactly("abort", "abort");
    assertThat(engine.stats().aborted()).isEqualTo(1);
  }

  @Test
  void saysWhatItIs() throws Exception {
    var model = stub.getModelInfo(GetModelInfoRequest.getDefaultInstance());
    assertThat(model.getModelPath()).isEqualTo("m");
    assertThat(model.getServedModelName()).isEqualTo("m");
    assertThat(model.getIsGeneration()).isTrue();
    // The KV capacity, as the real servicer has it.
    assertThat(model.getMaxContextLength()).isEqualTo(16_384 * 4);
    assertThat(model.getEosTokenIdsList()).containsExactly(2);
    GetServerInfoResponse info = stub.getServerInfo(GetServerInfoRequest.getDefaultInstance());
    assertThat(info.getServerArgs().getFieldsOrThrow("page_size").getNumberValue()).isEqualTo(4);
    assertThat(info.getServerArgs().getFieldsOrThrow("disaggregation_mode").getStringValue())
        .isEqualTo("null");
    assertThat(info.getServerArgs().getFieldsOrThrow("kv_events").hasNullValue()).isTrue();
    assertThat(info.getSchedulerInfo().getFieldsOrThrow("max_total_num_tokens").getNumberValue())
        .isEqualTo(16_384 * 4);
    assertThat(info.getMaxTotalNumTokens()).isEqualTo(16_384 * 4);
    assertThat(info.getServerType()).isEqualTo("grpc");
    assertThat(info.getSglangVersion()).isEqualTo("0.5.17");
    assertThat(info.getStartTime().getSeconds()).isPositive();
    assertThat(
            stub.listLoadedLoRAAdapters(ListLoadedLoRAAdaptersRequest.getDefaultInstance())
                .getLoadedAdaptersList())
        .extracting(adapter -> adapter.getLoraName())
        .containsExactly("poet");
    assertThat(
            failure(() -> stub.loadLoRAAdapter(LoadLoRAAdapterRequest.getDefaultInstance()))
                .getCode())
        .isEqualTo(Status.Code.UNIMPLEMENTED);
  }

  @Test
  void tellsItsLoad() throws Exception {
    engine.pause();
    Taker<GenerateResponse> taker = new Taker<>();
    SglangSchedulerGrpc.newStub(client.channel())
        .generate(request("w", sampling(2)).build(), taker);
    await().atMost(Duration.ofMinutes(1)).until(() -> engine.stats().waiting() == 1);
    GetLoadsResponse loads = stub.getLoads(GetLoadsRequest.getDefaultInstance());
    JsonNode http = overHttp("/v1/loads", null).path("loads").path(0);
    assertThat(loads.getDpRankCount()).isEqualTo(1);
    assertThat(loads.getLoads(0).getNumWaitingReqs()).isEqualTo(1);
    assertThat(loads.getLoads(0).getNumTotalReqs()).isEqualTo(1);
    assertThat(loads.getLoads(0).getNumWaitingUncachedTokens())
        .isEqualTo(http.path("num_waiting_uncached_tokens").asInt());
    assertThat(loads.getLoads(0).getMaxTotalNumTokens()).isEqualTo(16_384 * 4);
    assertThat(loads.getLoads(0).getQueues().getWaiting()).isEqualTo(1);
    assertThat(loads.getAggregate().getTotalReqs()).isEqualTo(1);
    GetLoadsResponse core = stub.getLoads(GetLoadsRequest.newBuilder().addInclude("core").build());
    assertThat(core.getLoads(0).hasQueues()).isFalse();
    assertThat(
            failure(() -> stub.getLoads(GetLoadsRequest.newBuilder().addInclude("moon").build()))
                .getCode())
        .isEqualTo(Status.Code.INVALID_ARGUMENT);
    engine.resume();
    assertThat(taker.end()).isEqualTo(Status.OK);
  }

  @Test
  void tellsItsHealth() {
    HealthGrpc.HealthBlockingStub health = HealthGrpc.newBlockingStub(client.channel());
    var ofService =
        dev.warmpath.proto.health.HealthCheckRequest.newBuilder()
            .setService("sglang.grpc.scheduler.SglangScheduler")
            .build();
    var ofAnother =
        dev.warmpath.proto.health.HealthCheckRequest.newBuilder()
            .setService("vllm.grpc.engine.VllmEngine")
            .build();
    assertThat(stub.healthCheck(HealthCheckRequest.getDefaultInstance()).getHealthy()).isTrue();
    assertThat(health.check(ofService).getStatus()).isEqualTo(ServingStatus.SERVING);
    assertThat(failure(() -> health.check(ofAnother)).getCode()).isEqualTo(Status.Code.NOT_FOUND);
    assertThat(health.watch(ofAnother).next().getStatus()).isEqualTo(ServingStatus.SERVICE_UNKNOWN);
    engine.faults().add(Fault.freeze());
    assertThat(health.check(ofService).getStatus()).isEqualTo(ServingStatus.NOT_SERVING);
    assertThat(stub.healthCheck(HealthCheckRequest.getDefaultInstance()).getHealthy()).isFalse();
  }

  @Test
  void flushesWhenIdle() throws Exception {
    only(request("a", sampling(1)));
    assertThat(stub.flushCache(FlushCacheRequest.getDefaultInstance()).getSuccess()).isTrue();
    assertThat(only(request("b", sampling(1))).getCachedTokens()).isZero();
    engine.pause();
    Taker<GenerateResponse> taker = new Taker<>();
    SglangSchedulerGrpc.newStub(client.channel())
        .generate(request("c", sampling(1)).build(), taker);
    await().atMost(Duration.ofMinutes(1)).until(() -> engine.stats().waiting() == 1);
    assertThat(stub.flushCache(FlushCacheRequest.getDefaultInstance()).getSuccess()).isFalse();
    engine.resume();
    assertThat(taker.end()).isEqualTo(Status.OK);
  }

  @Test
  void embedsAsOverHttp() throws Exception {
    TokenizedInput input = request("e", sampling(1)).getTokenized();
    var embedding = stub.embed(EmbedRequest.newBuilder().setTokenized(input).build());
    JsonNode http =
        overHttp("/v1/embeddings", "{\"input\":\"" + PROMPT + "\"}").at("/data/0/embedding");
    assertThat(embedding.getEmbeddingDim()).isEqualTo(64);
    assertThat(embedding.getPromptTokens()).isEqualTo(15);
    assertThat(embedding.getEmbedding(7)).isEqualTo((float) http.path(7).asDouble());
  }

  @Test
  void givesItsTokenizerAway(@TempDir Path directory) throws Exception {
    assertThat(
            failure(() -> all(stub.getTokenizer(GetTokenizerRequest.getDefaultInstance())))
                .getCode())
        .isEqualTo(Status.Code.UNIMPLEMENTED);
    byte[] large = new byte[200_000];
    ThreadLocalRandom.current().nextBytes(large);
    Files.write(directory.resolve("tokenizer.json"), large);
    Files.writeString(directory.resolve("chat_template.jinja"), "{{ messages }}");
    Files.writeString(directory.resolve("weights.safetensors"), "not this one");
    try (FakeEngine giver = FakeEngine.builder().grpcPort(0).tokenizerFiles(directory).start();
        GrpcClient taker = new GrpcClient(giver)) {
      List<GetTokenizerChunk> chunks =
          all(
              SglangSchedulerGrpc.newBlockingStub(taker.channel())
                  .getTokenizer(GetTokenizerRequest.getDefaultInstance()));
      ByteArrayOutputStream archive = new ByteArrayOutputStream();
      for (GetTokenizerChunk chunk : chunks) {
        assertThat(chunk.getData().size()).isLessThanOrEqualTo(64 << 10);
        chunk.getData().writeTo(archive);
      }
      assertThat(chunks).hasSize(4);
      assertThat(chunks.subList(0, 3)).allMatch(chunk -> chunk.getSha256().isEmpty());
      assertThat(chunks.get(3).getSha256())
          .isEqualTo(
              HexFormat.of()
                  .formatHex(MessageDigest.getInstance("SHA-256").digest(archive.toByteArray())));
      TreeMap<String, byte[]> files = new TreeMap<>();
      try (ZipInputStream zip =
          new ZipInputStream(new ByteArrayInputStream(archive.toByteArray()))) {
        for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
          files.put(entry.getName(), zip.readAllBytes());
        }
      }
      assertThat(files).containsOnlyKeys("chat_template.jinja", "tokenizer.json");
      assertThat(files.get("tokenizer.json")).isEqualTo(large);
    }
  }
}
