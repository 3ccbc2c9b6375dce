package dev.warmpath.grpc;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import com.google.protobuf.Struct;
import com.google.protobuf.Timestamp;
import com.google.protobuf.Value;
import dev.warmpath.proto.sglang.runtime.OpenAIRequest;
import dev.warmpath.proto.sglang.runtime.OpenAIStreamChunk;
import dev.warmpath.proto.sglang.runtime.SglangServiceGrpc;
import dev.warmpath.proto.sglang.scheduler.SglangSchedulerGrpc;
import dev.warmpath.proto.vllm.control.ControlGrpc;
import dev.warmpath.proto.vllm.engine.VllmEngineGrpc;
import dev.warmpath.proto.vllm.inference.InferenceGrpc;
import io.grpc.BindableService;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.UnaryOperator;

/**
 * Engines of each kind whose answer is a script: every request gets {@code answer}'s tokens, a few
 * at a time. What they were asked is kept.
 */
final class ScriptedEngines {
  final BlockingQueue<Message> requests = new LinkedBlockingQueue<>();
  final BlockingQueue<String> aborted = new LinkedBlockingQueue<>();
  final BlockingQueue<Metadata> metadata = new LinkedBlockingQueue<>();
  final CountDownLatch cancelled = new CountDownLatch(1);

  volatile String answer = "Hello, wörld!";
  volatile String finish = "stop";
  volatile Status failure;
  volatile boolean hang;
  volatile long startTime = 1;
  volatile UnaryOperator<dev.warmpath.proto.sglang.scheduler.SchedulerLoad.Builder> load =
      builder -> builder;
  volatile boolean running;

  /** Keeps the metadata of every call. */
  ServerInterceptor interceptor() {
    return new ServerInterceptor() {
      @Override
      public <Q, R> ServerCall.Listener<Q> interceptCall(
          ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
        metadata.add(headers);
        return next.startCall(call, headers);
      }
    };
  }

  private List<List<Integer>> pieces() {
    List<Integer> ids = TinyModel.ids(answer);
    List<List<Integer>> pieces = new ArrayList<>();
    for (int i = 0; i < ids.size(); i += 3) {
      pieces.add(ids.subList(i, Math.min(ids.size(), i + 3)));
    }
    return pieces;
  }

  private List<Integer> ended(List<Integer> ids) {
    List<Integer> all = new ArrayList<>(ids);
    if (finish.equals("stop")) {
      all.add(TinyModel.END);
    }
    return all;
  }

  /** Whether the call is over already: failed or left hanging. */
  private boolean fails(Message request, StreamObserver<?> out) {
    requests.add(request);
    if (failure != null) {
      out.onError(failure.asRuntimeException());
      return true;
    }
    if (hang) {
      ((ServerCallStreamObserver<?>) out).setOnCancelHandler(cancelled::countDown);
    }
    return hang;
  }

  private static <R> void one(StreamObserver<R> out, R message) {
    out.onNext(message);
    out.onCompleted();
  }

  BindableService sglangScheduler() {
    return new SglangSchedulerGrpc.SglangSchedulerImplBase() {
      @Override
      public void generate(
          dev.warmpath.proto.sglang.scheduler.GenerateRequest request,
          StreamObserver<dev.warmpath.proto.sglang.scheduler.GenerateResponse> out) {
        if (fails(request, out)) {
          return;
        }
        int prompt = request.getTokenized().getInputIdsCount();
        int n = request.getSamplingParams().getN();
        for (int index = 0; index < n; index++) {
          int count = 0;
          List<Integer> last = List.of();
          List<List<Integer>> pieces = request.getStream() ? pieces() : List.of();
          for (int i = 0; i < pieces.size(); i++) {
            last = i == pieces.size() - 1 ? ended(pieces.get(i)) : pieces.get(i);
            count += last.size();
            var chunk =
                dev.warmpath.proto.sglang.scheduler.GenerateStreamChunk.newBuilder()
                    .setIndex(index)
                    .addAllTokenIds(last)
                    .setPromptTokens(prompt)
                    .setCompletionTokens(count)
                    .setCachedTokens(2);
            if (request.getReturnLogprob()) {
              chunk.setOutputLogprobs(logprobs(last, request.getTopLogprobsNum()));
            }
            out.onNext(
                dev.warmpath.proto.sglang.scheduler.GenerateResponse.newBuilder()
                    .setChunk(chunk)
                    .build());
          }
          List<Integer> all = request.getStream() ? last : ended(TinyModel.ids(answer));
          var complete =
              dev.warmpath.proto.sglang.scheduler.GenerateComplete.newBuilder()
                  .setIndex(index)
                  .addAllOutputIds(all)
                  .setFinishReason(finish)
                  .setPromptTokens(prompt)
                  .setCompletionTokens(ended(TinyModel.ids(answer)).size())
                  .setCachedTokens(2);
          if (request.getReturnLogprob()) {
            complete.setOutputLogprobs(logprobs(all, request.getTopLogprobsNum()));
          }
          if (finish.equals("stop")) {
            complete.setMatchedTokenId(TinyModel.END);
          }
          out.onNext(
              dev.warmpath.proto.sglang.scheduler.GenerateResponse.newBuilder()
                  .setComplete(complete)
                  .build());
        }
        out.onCompleted();
      }

      private dev.warmpath.proto.sglang.scheduler.OutputLogProbs logprobs(
          List<Integer> ids, int top) {
        var all = dev.warmpath.proto.sglang.scheduler.OutputLogProbs.newBuilder();
        for (int id : ids) {
          all.addTokenIds(id).addTokenLogprobs(-0.5f);
          var alternatives = dev.warmpath.proto.sglang.scheduler.TopLogProbs.newBuilder();
          for (int i = 0; i < top; i++) {
            alternatives.addTokenIds(id == TinyModel.END ? id : 'a' + i).addValues(-0.5f - i);
          }
          all.addTopLogprobs(alternatives);
        }
        return all.build();
      }

      @Override
      public void getModelInfo(
          dev.warmpath.proto.sglang.scheduler.GetModelInfoRequest request,
          StreamObserver<dev.warmpath.proto.sglang.scheduler.GetModelInfoResponse> out) {
        one(
            out,
            dev.warmpath.proto.sglang.scheduler.GetModelInfoResponse.newBuilder()
                .setModelPath("/models/tiny")
                .setServedModelName("tiny")
                .setMaxContextLength(99_999)
                .addEosTokenIds(TinyModel.END)
                .setDefaultSamplingParamsJson("{\"top_p\":0.75}")
                .build());
      }

      @Override
      public void getServerInfo(
          dev.warmpath.proto.sglang.scheduler.GetServerInfoRequest request,
          StreamObserver<dev.warmpath.proto.sglang.scheduler.GetServerInfoResponse> out) {
        one(
            out,
            dev.warmpath.proto.sglang.scheduler.GetServerInfoResponse.newBuilder()
                .setServerArgs(
                    Struct.newBuilder()
                        .putFields("page_size", number(16))
                        .putFields("dp_size", number(4))
                        .putFields("context_length", number(4_096))
                        .putFields(
                            "disaggregation_mode",
                            Value.newBuilder().setStringValue("null").build()))
                .setMaxTotalNumTokens(99_999)
                .setSglangVersion("0.5.19")
                .setStartTime(Timestamp.newBuilder().setSeconds(startTime))
                .build());
      }

      @Override
      public void getLoads(
          dev.warmpath.proto.sglang.scheduler.GetLoadsRequest request,
          StreamObserver<dev.warmpath.proto.sglang.scheduler.GetLoadsResponse> out) {
        var response = dev.warmpath.proto.sglang.scheduler.GetLoadsResponse.newBuilder();
        for (int rank = 0; rank < 2; rank++) {
          response.addLoads(
              load.apply(
                  dev.warmpath.proto.sglang.scheduler.SchedulerLoad.newBuilder()
                      .setDpRank(rank)
                      .setNumRunningReqs(3)
                      .setNumWaitingReqs(1)
                      .setNumUsedTokens(100)
                      .setMaxTotalNumTokens(1_000)
                      .setTokenUsage(0.1 + rank * 0.2)));
        }
        one(out, response.build());
      }

      @Override
      public void healthCheck(
          dev.warmpath.proto.sglang.scheduler.HealthCheckRequest request,
          StreamObserver<dev.warmpath.proto.sglang.scheduler.HealthCheckResponse> out) {
        one(
            out,
            dev.warmpath.proto.sglang.scheduler.HealthCheckResponse.newBuilder()
                .setHealthy(true)
                .build());
      }

      @Override
      public void abort(
          dev.warmpath.proto.sglang.scheduler.AbortRequest request,
          StreamObserver<dev.warmpath.proto.sglang.scheduler.AbortResponse> out) {
        aborted.add(request.getRequestId());
        one(out, dev.warmpath.proto.sglang.scheduler.AbortResponse.getDefaultInstance());
      }
    };
  }

  private static Value number(double value) {
    return Value.newBuilder().setNumberValue(value).build();
  }

  BindableService vllmEngine() {
    return new VllmEngineGrpc.VllmEngineImplBase() {
      @Override
      public void generate(
          dev.warmpath.proto.vllm.engine.GenerateRequest request,
          StreamObserver<dev.warmpath.proto.vllm.engine.GenerateResponse> out) {
        if (fails(request, out)) {
          return;
        }
        int prompt = request.getTokenized().getInputIdsCount();
        List<Integer> last = List.of();
        List<List<Integer>> pieces = request.getStream() ? pieces() : List.of();
        for (int i = 0; i < pieces.size(); i++) {
          last = i == pieces.size() - 1 ? ended(pieces.get(i)) : pieces.get(i);
          out.onNext(
              dev.warmpath.proto.vllm.engine.GenerateResponse.newBuilder()
                  .setChunk(
                      dev.warmpath.proto.vllm.engine.GenerateStreamChunk.newBuilder()
                          .addAllTokenIds(last)
                          .setPromptTokens(prompt)
                          .setCompletionTokens(last.size())
                          .setCachedTokens(2))
                  .build());
        }
        var complete =
            dev.warmpath.proto.vllm.engine.GenerateComplete.newBuilder()
                .addAllOutputIds(request.getStream() ? last : ended(TinyModel.ids(answer)))
                .setFinishReason(finish)
                .setPromptTokens(prompt)
                .setCompletionTokens(last.size())
                .setCachedTokens(2);
        if (request.hasKvTransferParamsJson()) {
          complete.setKvTransferParamsJson("{\"remote_block_ids\":[1,2]}");
        }
        out.onNext(
            dev.warmpath.proto.vllm.engine.GenerateResponse.newBuilder()
                .setComplete(complete)
                .build());
        out.onCompleted();
      }

      @Override
      public void getModelInfo(
          dev.warmpath.proto.vllm.engine.GetModelInfoRequest request,
          StreamObserver<dev.warmpath.proto.vllm.engine.GetModelInfoResponse> out) {
        one(
            out,
            dev.warmpath.proto.vllm.engine.GetModelInfoResponse.newBuilder()
                .setServedModelName("tiny")
                .setMaxContextLength(4_096)
                .addEosTokenIds(TinyModel.END)
                .build());
      }

      @Override
      public void getServerInfo(
          dev.warmpath.proto.vllm.engine.GetServerInfoRequest request,
          StreamObserver<dev.warmpath.proto.vllm.engine.GetServerInfoResponse> out) {
        one(
            out,
            dev.warmpath.proto.vllm.engine.GetServerInfoResponse.newBuilder()
                .setDataParallelSize(2)
                .setKvEngineId("engine-" + startTime)
                .build());
      }

      @Override
      public void getLoads(
          dev.warmpath.proto.vllm.engine.GetLoadsRequest request,
          StreamObserver<dev.warmpath.proto.vllm.engine.GetLoadsResponse> out) {
        one(
            out,
            dev.warmpath.proto.vllm.engine.GetLoadsResponse.newBuilder()
                .addLoads(
                    dev.warmpath.proto.vllm.engine.SchedulerLoad.newBuilder()
                        .setNumRunningReqs(running ? 1 : 0))
                .build());
      }

      @Override
      public void healthCheck(
          dev.warmpath.proto.vllm.engine.HealthCheckRequest request,
          StreamObserver<dev.warmpath.proto.vllm.engine.HealthCheckResponse> out) {
        one(
            out,
            dev.warmpath.proto.vllm.engine.HealthCheckResponse.newBuilder()
                .setHealthy(true)
                .build());
      }
    };
  }

  BindableService sglangRuntime() {
    return new SglangServiceGrpc.SglangServiceImplBase() {
      @Override
      public void chatComplete(OpenAIRequest request, StreamObserver<OpenAIStreamChunk> out) {
        if (fails(request, out)) {
          return;
        }
        if (request.getJsonBody().toStringUtf8().contains("\"stream\":true")) {
          out.onNext(chunk("{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}"));
          out.onNext(chunk("{\"choices\":[],\"usage\":{\"prompt_tokens\":3}}"));
          out.onNext(OpenAIStreamChunk.newBuilder().setFinished(true).build());
        } else {
          out.onNext(chunk("{\"choices\":[{\"index\":0,\"message\":{\"content\":\"a\"}}]}"));
        }
        out.onCompleted();
      }

      private OpenAIStreamChunk chunk(String json) {
        return OpenAIStreamChunk.newBuilder().setJsonChunk(ByteString.copyFromUtf8(json)).build();
      }

      @Override
      public void openAIEmbed(
          OpenAIRequest request,
          StreamObserver<dev.warmpath.proto.sglang.runtime.OpenAIResponse> out) {
        one(
            out,
            dev.warmpath.proto.sglang.runtime.OpenAIResponse.newBuilder()
                .setStatusCode(200)
                .setJsonBody(ByteString.copyFromUtf8("{\"object\":\"list\"}"))
                .build());
      }

      @Override
      public void getServerInfo(
          dev.warmpath.proto.sglang.runtime.GetServerInfoRequest request,
          StreamObserver<dev.warmpath.proto.sglang.runtime.GetServerInfoResponse> out) {
        one(
            out,
            dev.warmpath.proto.sglang.runtime.GetServerInfoResponse.newBuilder()
                .setJsonInfo(
                    "{\"dp_size\":2,\"page_size\":1,\"version\":\"0.5.20\","
                        + "\"disaggregation_mode\":\"null\"}")
                .build());
      }

      @Override
      public void listModels(
          dev.warmpath.proto.sglang.runtime.ListModelsRequest request,
          StreamObserver<dev.warmpath.proto.sglang.runtime.ListModelsResponse> out) {
        one(
            out,
            dev.warmpath.proto.sglang.runtime.ListModelsResponse.newBuilder()
                .addModels(
                    dev.warmpath.proto.sglang.runtime.ModelCard.newBuilder()
                        .setId("tiny")
                        .setMaxModelLen(4_096))
                .build());
      }

      @Override
      public void getLoad(
          dev.warmpath.proto.sglang.runtime.GetLoadRequest request,
          StreamObserver<dev.warmpath.proto.sglang.runtime.GetLoadResponse> out) {
        one(
            out,
            dev.warmpath.proto.sglang.runtime.GetLoadResponse.newBuilder()
                .setJsonInfo(
                    "[{\"dp_rank\":0,\"num_reqs\":5,\"num_waiting_reqs\":2},"
                        + "{\"dp_rank\":1,\"num_reqs\":1,\"num_waiting_reqs\":0}]")
                .build());
      }
    };
  }

  BindableService vllmInference() {
    return new InferenceGrpc.InferenceImplBase() {
      @Override
      public void generateStream(
          dev.warmpath.proto.vllm.inference.GenerateRequest request,
          StreamObserver<dev.warmpath.proto.vllm.inference.GenerateResponse> out) {
        if (fails(request, out)) {
          return;
        }
        out.onNext(
            dev.warmpath.proto.vllm.inference.GenerateResponse.newBuilder()
                .setPromptInfo(
                    dev.warmpath.proto.vllm.inference.PromptInfo.newBuilder()
                        .setNumPromptTokens(request.getTokenIds().getIdsCount()))
                .build());
        for (int i = 0; i < answer.length(); i++) {
          String text = answer.substring(i, i + 1);
          var output =
              dev.warmpath.proto.vllm.inference.SequenceOutput.newBuilder()
                  .setText(text)
                  .addAllTokenIds(TinyModel.ids(text));
          if (i == answer.length() - 1) {
            output.setFinishInfo(
                dev.warmpath.proto.vllm.inference.FinishInfo.newBuilder()
                    .setFinishReason(
                        finish.equals("stop")
                            ? dev.warmpath.proto.vllm.inference.FinishInfo.FinishReason.STOP
                            : dev.warmpath.proto.vllm.inference.FinishInfo.FinishReason.LENGTH)
                    .setEosTokenId(TinyModel.END));
          }
          out.onNext(
              dev.warmpath.proto.vllm.inference.GenerateResponse.newBuilder()
                  .setOutputs(output)
                  .build());
        }
        out.onCompleted();
      }
    };
  }

  BindableService vllmControl() {
    return new ControlGrpc.ControlImplBase() {
      @Override
      public void getServerInfo(
          dev.warmpath.proto.vllm.control.GetServerInfoRequest request,
          StreamObserver<dev.warmpath.proto.vllm.control.ServerInfo> out) {
        one(
            out,
            dev.warmpath.proto.vllm.control.ServerInfo.newBuilder()
                .setEngineVersion("0.27.0")
                .setInstanceId("instance-" + startTime)
                .setMaxModelLen(4_096)
                .setKvBlockSize(16)
                .setTotalKvBlocks(100)
                .build());
      }

      @Override
      public void getModelInfo(
          dev.warmpath.proto.vllm.control.GetModelInfoRequest request,
          StreamObserver<dev.warmpath.proto.vllm.control.ModelInfo> out) {
        one(
            out,
            dev.warmpath.proto.vllm.control.ModelInfo.newBuilder()
                .setModelId("/models/tiny")
                .setServedModelName("tiny")
                .addServedModelAliases("small")
                .build());
      }

      @Override
      public void abort(
          dev.warmpath.proto.vllm.control.AbortRequest request,
          StreamObserver<dev.warmpath.proto.vllm.control.AbortResponse> out) {
        aborted.addAll(request.getRequestIdsList());
        one(out, dev.warmpath.proto.vllm.control.AbortResponse.getDefaultInstance());
      }
    };
  }
}
