package dev.warmpath.fake.internal.grpc;

import com.google.protobuf.MessageLite;
import dev.warmpath.fake.fault.Scope;
import dev.warmpath.fake.internal.surface.EngineSettings;
import dev.warmpath.fake.internal.surface.Life;
import dev.warmpath.fake.internal.surface.VllmSurface;
import dev.warmpath.fake.kv.KvEventEndpoint;
import dev.warmpath.fake.kv.KvEventSettings;
import dev.warmpath.fake.scheduler.EngineCommand;
import dev.warmpath.fake.scheduler.PauseMode;
import dev.warmpath.proto.vllm.control.AbortRequest;
import dev.warmpath.proto.vllm.control.AbortResponse;
import dev.warmpath.proto.vllm.control.ControlGrpc;
import dev.warmpath.proto.vllm.control.GetKvEventSourcesRequest;
import dev.warmpath.proto.vllm.control.GetKvEventSourcesResponse;
import dev.warmpath.proto.vllm.control.GetModelInfoRequest;
import dev.warmpath.proto.vllm.control.GetServerInfoRequest;
import dev.warmpath.proto.vllm.control.IsPausedRequest;
import dev.warmpath.proto.vllm.control.IsPausedResponse;
import dev.warmpath.proto.vllm.control.IsSleepingRequest;
import dev.warmpath.proto.vllm.control.IsSleepingResponse;
import dev.warmpath.proto.vllm.control.KvEventSource;
import dev.warmpath.proto.vllm.control.ListLorasRequest;
import dev.warmpath.proto.vllm.control.ListLorasResponse;
import dev.warmpath.proto.vllm.control.LoraAdapter;
import dev.warmpath.proto.vllm.control.ModelInfo;
import dev.warmpath.proto.vllm.control.ParallelismInfo;
import dev.warmpath.proto.vllm.control.PauseGenerationRequest;
import dev.warmpath.proto.vllm.control.PauseGenerationResponse;
import dev.warmpath.proto.vllm.control.ResumeGenerationRequest;
import dev.warmpath.proto.vllm.control.ResumeGenerationResponse;
import dev.warmpath.proto.vllm.control.ServerInfo;
import dev.warmpath.proto.vllm.control.SleepRequest;
import dev.warmpath.proto.vllm.control.SleepResponse;
import dev.warmpath.proto.vllm.control.WakeUpRequest;
import dev.warmpath.proto.vllm.control.WakeUpResponse;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What vLLM's own Rust front end is, and what can be done to it ({@code rust/src/server/src/grpc},
 * vLLM 0.27). There are no weights to update, and adapters can be listed, not loaded.
 */
final class ControlService extends ControlGrpc.ControlImplBase {
  private static final String API_VERSION = "0.5";

  private final VllmSurface surface;
  private final Rpcs rpcs;
  private final Life life;
  private final EngineSettings settings;

  ControlService(VllmSurface surface, Rpcs rpcs) {
    this.surface = surface;
    this.rpcs = rpcs;
    this.life = surface.life();
    this.settings = life.settings();
  }

  @Override
  public void getServerInfo(GetServerInfoRequest request, StreamObserver<ServerInfo> to) {
    rpcs.answer(Scope.INFO, request, to, this::serverInfo);
  }

  private ServerInfo serverInfo() {
    return ServerInfo.newBuilder()
        .setEngineVersion(settings.version())
        .setApiVersion(API_VERSION)
        .setInstanceId(life.instanceId())
        .setParallelism(
            ParallelismInfo.newBuilder()
                .setTensorParallelSize(1)
                .setPipelineParallelSize(1)
                .setDataParallelSize(settings.dpSize())
                .setDecodeContextParallelSize(1)
                .setWorldSize(settings.dpSize())
                .setDataParallelSizeLocal(settings.dpSize()))
        .setMaxModelLen(settings.core().maxModelLen())
        .setKvBlockSize(settings.core().blockSize())
        .setTotalKvBlocks(settings.core().numBlocks())
        .setMaxRunningRequests(settings.core().maxNumSeqs())
        .setMaxBatchedTokens(settings.core().maxNumBatchedTokens())
        .setMaxLoras(settings.loraAdapters().size())
        .setEffectiveAttentionBlockSize(settings.core().blockSize())
        .build();
  }

  @Override
  public void getModelInfo(GetModelInfoRequest request, StreamObserver<ModelInfo> to) {
    rpcs.answer(
        Scope.INFO,
        request,
        to,
        () ->
            ModelInfo.newBuilder()
                .setModelId(settings.model())
                .setServedModelName(settings.servedModel())
                .addAllServedModelAliases(
                    settings.servedModels().subList(1, settings.servedModels().size()))
                .setSupportsTextInput(true)
                .setSupportsTokenIdsInput(true)
                .setSupportsLora(!settings.loraAdapters().isEmpty())
                .build());
  }

  @Override
  public void abort(AbortRequest request, StreamObserver<AbortResponse> to) {
    rpcs.answer(
        Scope.ADMIN,
        request,
        to,
        () -> {
          request.getRequestIdsList().forEach(surface::abortCall);
          return AbortResponse.getDefaultInstance();
        });
  }

  @Override
  public void listLoras(ListLorasRequest request, StreamObserver<ListLorasResponse> to) {
    rpcs.answer(
        Scope.INFO,
        request,
        to,
        () -> {
          ListLorasResponse.Builder list = ListLorasResponse.newBuilder();
          for (String name : settings.loraAdapters()) {
            list.addAdapters(
                LoraAdapter.newBuilder()
                    .setLoraId(list.getAdaptersCount() + 1)
                    .setLoraName(name)
                    .setSourcePath(name));
          }
          return list.build();
        });
  }

  @Override
  public void getKvEventSources(
      GetKvEventSourcesRequest request, StreamObserver<GetKvEventSourcesResponse> to) {
    rpcs.answer(Scope.INFO, request, to, this::kvEventSources);
  }

  private GetKvEventSourcesResponse kvEventSources() {
    GetKvEventSourcesResponse.Builder sources = GetKvEventSourcesResponse.newBuilder();
    KvEventEndpoint endpoint = life.kvEndpoint();
    KvEventSettings how = settings.kvEvents();
    if (endpoint == null || how == null) {
      return sources.build();
    }
    for (int rank = 0; rank < endpoint.ranks(); rank++) {
      KvEventSource.Builder source =
          KvEventSource.newBuilder()
              .setTransport("zmq")
              .setEndpoint("tcp://*:" + (endpoint.port() + rank))
              .setTopic(endpoint.topic())
              .setDataParallelRank(rank)
              .setEncoding("msgpack")
              .setSchemaVersion(1)
              .setBufferSteps(how.keptBatches())
              .setHwm(how.highWaterMark());
      if (endpoint.replayPort().isPresent()) {
        source.setReplayEndpoint("tcp://*:" + (endpoint.replayPort().getAsInt() + rank));
      }
      sources.addSources(source);
    }
    return sources.build();
  }

  @Override
  public void pauseGeneration(
      PauseGenerationRequest request, StreamObserver<PauseGenerationResponse> to) {
    PauseMode mode = mode(request.getMode());
    boolean clear = !request.hasClearCache() || request.getClearCache();
    act(
        request,
        to,
        () -> pause(mode, clear && mode == PauseMode.ABORT),
        PauseGenerationResponse.getDefaultInstance());
  }

  @Override
  public void resumeGeneration(
      ResumeGenerationRequest request, StreamObserver<ResumeGenerationResponse> to) {
    act(
        request,
        to,
        () -> life.applyToAll(new EngineCommand.Resume()),
        ResumeGenerationResponse.getDefaultInstance());
  }

  @Override
  public void isPaused(IsPausedRequest request, StreamObserver<IsPausedResponse> to) {
    rpcs.answer(
        Scope.ADMIN,
        request,
        to,
        () -> IsPausedResponse.newBuilder().setPaused(life.paused()).build());
  }

  @Override
  public void sleep(SleepRequest request, StreamObserver<SleepResponse> to) {
    act(
        request,
        to,
        () -> {
          life.sleeping(true);
          return pause(mode(request.getMode()), true);
        },
        SleepResponse.getDefaultInstance());
  }

  @Override
  public void wakeUp(WakeUpRequest request, StreamObserver<WakeUpResponse> to) {
    act(
        request,
        to,
        () -> {
          life.sleeping(false);
          return life.applyToAll(new EngineCommand.Resume());
        },
        WakeUpResponse.getDefaultInstance());
  }

  @Override
  public void isSleeping(IsSleepingRequest request, StreamObserver<IsSleepingResponse> to) {
    rpcs.answer(
        Scope.ADMIN,
        request,
        to,
        () -> IsSleepingResponse.newBuilder().setSleeping(life.sleeping()).build());
  }

  private <T> void act(
      MessageLite request,
      StreamObserver<T> to,
      Supplier<CompletableFuture<?>> action,
      @Nullable T done) {
    rpcs.answerLater(Scope.ADMIN, request, to, () -> action.get().thenApply(ignored -> done));
  }

  private CompletableFuture<?> pause(PauseMode mode, boolean flush) {
    CompletableFuture<?> paused = life.applyToAll(new EngineCommand.Pause(mode));
    return flush ? paused.thenCompose(ignored -> life.flush()) : paused;
  }

  private static PauseMode mode(dev.warmpath.proto.vllm.control.PauseMode mode) {
    return switch (mode) {
      case PAUSE_MODE_WAIT -> PauseMode.DRAIN;
      case PAUSE_MODE_KEEP -> PauseMode.IN_PLACE;
      default -> PauseMode.ABORT;
    };
  }
}
