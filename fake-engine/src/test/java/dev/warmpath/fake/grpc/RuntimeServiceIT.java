package dev.warmpath.fake.grpc;

import static dev.warmpath.fake.grpc.GrpcClient.all;
import static dev.warmpath.fake.grpc.GrpcClient.failure;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.protobuf.ByteString;
import dev.warmpath.fake.FakeEngine;
import dev.warmpath.fake.fault.Fault;
import dev.warmpath.fake.grpc.GrpcClient.Taker;
import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.fake.text.FakeTokenizer;
import dev.warmpath.fake.wire.GrpcApi;
import dev.warmpath.proto.health.HealthCheckRequest;
import dev.warmpath.proto.health.HealthGrpc;
import dev.warmpath.proto.sglang.runtime.AbortRequest;
import dev.warmpath.proto.sglang.runtime.ContinueGenerationRequest;
import dev.warmpath.proto.sglang.runtime.DetokenizeRequest;
import dev.warmpath.proto.sglang.runtime.FlushCacheRequest;
import dev.warmpath.proto.sglang.runtime.GenerateRequest;
import dev.warmpath.proto.sglang.runtime.GenerateResponse;
import dev.warmpath.proto.sglang.runtime.GetLoadRequest;
import dev.warmpath.proto.sglang.runtime.GetServerInfoRequest;
import dev.warmpath.proto.sglang.runtime.ListModelsRequest;
import dev.warmpath.proto.sglang.runtime.OpenAIRequest;
import dev.warmpath.proto.sglang.runtime.OpenAIResponse;
import dev.warmpath.proto.sglang.runtime.OpenAIStreamChunk;
import dev.warmpath.proto.sglang.runtime.PauseGenerationRequest;
import dev.warmpath.proto.sglang.runtime.SamplingParams;
import dev.warmpath.proto.sglang.runtime.SglangServiceGrpc;
import dev.warmpath.proto.sglang.runtime.TextGenerateRequest;
import dev.warmpath.proto.sglang.runtime.TextGenerateResponse;
import dev.warmpath.proto.sglang.runtime.TokenizeRequest;
import io.grpc.Status;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** SGLang's native server, by plain stubs over real sockets. */
class RuntimeServiceIT {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String PROMPT = "a prompt that is passed as text or as tokens";
  private static final String CHAT =
      "{\"model\":\"m\",\"max_tokens\":4,\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]";

  private FakeEngine engine;
  private GrpcClient client;
  private SglangServiceGrpc.SglangServiceBlockingStub stub;

  @BeforeEach
  void start() {
    engine =
        FakeEngine.builder()
            .model("m")
            .blockSize(4)
            .timing(LatencyModel.instant())
            .speedup(1_000)
            .grpcPort(0)
            .grpcApi(GrpcApi.SGLANG_RUNTIME)
            .start();
    client = new GrpcClient(engine);
    stub = SglangServiceGrpc.newBlockingStub(client.channel());
  }

  @AfterEach
  void stop() {
    client.close();
    engine.close();
  }

  private static GenerateRequest.Builder tokens(int count) {
    GenerateRequest.Builder request = GenerateRequest.newBuilder();
    Arrays.stream(FakeTokenizer.encode(PROMPT)).forEach(request::addInputIds);
    return request.setSamplingParams(SamplingParams.newBuilder().setMaxNewTokens(count));
  }

  private static OpenAIRequest openAi(String body) {
    return OpenAIRequest.newBuilder().setJsonBody(ByteString.copyFromUtf8(body)).build();
  }

  private static JsonNode json(ByteString text) throws Exception {
    return JSON.readTree(text.toStringUtf8());
  }

  @Test
  void everyMessageHasAllSoFar() {
    List<GenerateResponse> stream =
        all(stub.generate(tokens(4).setStream(true).setRid("r").build()));
    assertThat(stream).extracting(GenerateResponse::getOutputIdsCount).containsExactly(1, 2, 3, 4);
    assertThat(stream)
        .extracting(GenerateResponse::getFinished)
        .containsExactly(false, false, false, true);
    GenerateResponse last = stream.get(3);
    assertThat(last.getMetaInfoOrThrow("id")).isEqualTo("r");
    assertThat(last.getMetaInfoOrThrow("prompt_tokens")).isEqualTo("11");
    assertThat(last.getMetaInfoOrThrow("completion_tokens")).isEqualTo("4");
    assertThat(last.getMetaInfoOrThrow("finish_reason"))
        .isEqualTo("{\"type\":\"length\",\"length\":4}");
    List<GenerateResponse> plain = all(stub.generate(tokens(4).build()));
    assertThat(plain).hasSize(1);
    assertThat(plain.get(0).getOutputIdsList()).isEqualTo(last.getOutputIdsList());
    assertThat(plain.get(0).getMetaInfoOrThrow("cached_tokens")).isEqualTo("8");
    // 128 tokens where none are asked for.
    assertThat(all(stub.generate(tokens(1).clearSamplingParams().build())).get(0))
        .extracting(GenerateResponse::getOutputIdsCount)
        .isEqualTo(128);
  }

  @Test
  void textIsThatOfTheTokens() {
    GenerateResponse tokens = all(stub.generate(tokens(5).build())).get(0);
    TextGenerateResponse text =
        all(stub.textGenerate(
                TextGenerateRequest.newBuilder()
                    .setText(PROMPT)
                    .setSamplingParams(SamplingParams.newBuilder().setMaxNewTokens(5))
                    .build()))
            .get(0);
    assertThat(text.getText())
        .isEqualTo(
            FakeTokenizer.instance()
                .decode(tokens.getOutputIdsList().stream().mapToInt(Integer::intValue).toArray()));
    assertThat(text.getFinished()).isTrue();
  }

  @Test
  void openAiBodiesArePassedThrough() throws Exception {
    List<OpenAIStreamChunk> plain = all(stub.chatComplete(openAi(CHAT + "}")));
    assertThat(plain).hasSize(1);
    assertThat(plain.get(0).getFinished()).isTrue();
    String text = json(plain.get(0).getJsonChunk()).at("/choices/0/message/content").asText();
    assertThat(text).hasSize(16);
    List<OpenAIStreamChunk> stream =
        all(
            stub.chatComplete(
                openAi(CHAT + ",\"stream\":true,\"stream_options\":{\"include_usage\":true}}")));
    StringBuilder streamed = new StringBuilder();
    for (OpenAIStreamChunk chunk : stream.subList(0, stream.size() - 1)) {
      assertThat(chunk.getFinished()).isFalse();
      streamed.append(json(chunk.getJsonChunk()).at("/choices/0/delta/content").asText());
    }
    assertThat(streamed.toString()).isEqualTo(text);
    assertThat(stream.get(stream.size() - 1).getFinished()).isTrue();
    assertThat(
            json(stream.get(stream.size() - 2).getJsonChunk())
                .at("/usage/completion_tokens")
                .asInt())
        .isEqualTo(4);
    assertThat(all(stub.complete(openAi("{\"prompt\":\"x\",\"max_tokens\":2}")))).hasSize(1);
    OpenAIResponse embedding = stub.openAIEmbed(openAi("{\"input\":\"x\"}"));
    assertThat(embedding.getStatusCode()).isEqualTo(200);
    assertThat(json(embedding.getJsonBody()).at("/data/0/embedding").size()).isEqualTo(64);
    assertThat(stub.openAIEmbed(openAi("{}")).getStatusCode()).isEqualTo(400);
    assertThat(failure(() -> all(stub.chatComplete(openAi("{}")))).getCode())
        .isEqualTo(Status.Code.INTERNAL);
    assertThat(failure(() -> stub.score(openAi("{}"))).getCode())
        .isEqualTo(Status.Code.UNIMPLEMENTED);
  }

  @Test
  void openAiStreamsSufferFaults() {
    String streaming = CHAT + ",\"stream\":true}";
    engine.faults().add(Fault.status(503).times(1));
    assertThat(failure(() -> all(stub.chatComplete(openAi(streaming)))).getCode())
        .isEqualTo(Status.Code.UNAVAILABLE);
    engine.faults().add(Fault.truncate(2).times(1));
    assertThat(all(stub.chatComplete(openAi(streaming))))
        .hasSize(2)
        .noneMatch(OpenAIStreamChunk::getFinished);
    engine.faults().add(Fault.error(1).times(1));
    assertThat(failure(() -> all(stub.chatComplete(openAi(streaming)))).getCode())
        .isEqualTo(Status.Code.INTERNAL);
    engine.faults().add(Fault.reset(1).times(1));
    assertThat(failure(() -> all(stub.chatComplete(openAi(streaming)))).getCode())
        .isEqualTo(Status.Code.UNAVAILABLE);
    assertThat(engine.stats().failed()).isEqualTo(4);
  }

  @Test
  void abortsByPrefixAndPauses() throws Exception {
    assertThat(
            stub.pauseGeneration(PauseGenerationRequest.newBuilder().setMode("in_place").build())
                .getMessage())
        .contains("paused");
    Taker<GenerateResponse> taker = new Taker<>();
    SglangServiceGrpc.newStub(client.channel())
        .generate(tokens(50).setRid("abcdef").setStream(true).build(), taker);
    await().atMost(Duration.ofMinutes(1)).until(() -> engine.stats().waiting() == 1);
    assertThat(stub.abort(AbortRequest.newBuilder().setRid("zzz").build()).getSuccess()).isTrue();
    assertThat(stub.abort(AbortRequest.newBuilder().setRid("abc").build()).getSuccess()).isTrue();
    assertThat(stub.flushCache(FlushCacheRequest.getDefaultInstance()).getMessage()).isNotEmpty();
    assertThat(stub.continueGeneration(ContinueGenerationRequest.getDefaultInstance()).getMessage())
        .contains("continued");
    assertThat(taker.end()).isEqualTo(Status.OK);
    assertThat(engine.stats().aborted()).isEqualTo(1);
    assertThat(
            failure(
                    () ->
                        stub.pauseGeneration(
                            PauseGenerationRequest.newBuilder().setMode("nap").build()))
                .getCode())
        .isEqualTo(Status.Code.INTERNAL);
  }

  @Test
  void saysWhatItIs() throws Exception {
    JsonNode info =
        JSON.readTree(stub.getServerInfo(GetServerInfoRequest.getDefaultInstance()).getJsonInfo());
    assertThat(info.path("page_size").asInt()).isEqualTo(4);
    assertThat(info.path("internal_states").size()).isEqualTo(1);
    assertThat(stub.listModels(ListModelsRequest.getDefaultInstance()).getModels(0).getId())
        .isEqualTo("m");
    JsonNode load = JSON.readTree(stub.getLoad(GetLoadRequest.getDefaultInstance()).getJsonInfo());
    assertThat(load.path(0).path("num_reqs").asInt(-1)).isZero();
    assertThat(stub.getLoad(GetLoadRequest.newBuilder().setDpRank(3).build()).getJsonInfo())
        .isEqualTo("[]");
    var tokens = stub.tokenize(TokenizeRequest.newBuilder().setText("abcdefgh").build());
    assertThat(tokens.getCount()).isEqualTo(2);
    assertThat(
            failure(() -> stub.detokenize(DetokenizeRequest.newBuilder().addTokens(-1).build()))
                .getCode())
        .isEqualTo(Status.Code.INVALID_ARGUMENT);
    // It has no health service.
    assertThat(
            failure(
                    () ->
                        HealthGrpc.newBlockingStub(client.channel())
                            .check(HealthCheckRequest.getDefaultInstance()))
                .getCode())
        .isEqualTo(Status.Code.UNIMPLEMENTED);
  }
}
