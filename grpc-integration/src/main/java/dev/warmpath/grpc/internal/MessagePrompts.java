package dev.warmpath.grpc.internal;

import com.google.protobuf.InvalidProtocolBufferException;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.hash.HashParams;
import dev.warmpath.hash.HashScheme;
import dev.warmpath.hash.HashSchemes;
import dev.warmpath.prompt.Prompt;
import dev.warmpath.proto.sglang.scheduler.SglangSchedulerGrpc;
import dev.warmpath.proto.vllm.engine.VllmEngineGrpc;
import dev.warmpath.proto.vllm.inference.InferenceGrpc;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The prompts of requests that are gRPC messages, by the tokens in them. */
public final class MessagePrompts {
  private static final HashScheme BLOCKS =
      HashSchemes.content(HashParams.builder().blockSize(Prompt.CLIENT_BLOCK_TOKENS).build());

  private MessagePrompts() {}

  /** The path under which the router knows a method. */
  public static String path(String fullMethodName) {
    return "/" + fullMethodName;
  }

  /** The service of a path that is a gRPC method's, or null. */
  public static @Nullable String service(String path) {
    int end = path.indexOf('/', 1);
    String first = end < 0 ? "" : path.substring(1, end);
    return first.indexOf('.') < 0 ? null : first;
  }

  /** The prompt of a {@code Generate} message with tokens; null for any other request. */
  public static @Nullable Prompt read(RouterRequest request) {
    String service = service(request.path());
    if (service == null || !request.path().startsWith("/Generate", service.length() + 1)) {
      return null;
    }
    try {
      return switch (service) {
        case SglangSchedulerGrpc.SERVICE_NAME -> {
          var message =
              dev.warmpath.proto.sglang.scheduler.GenerateRequest.parseFrom(request.body());
          yield prompt(null, message.getStream(), message.getTokenized().getInputIdsList());
        }
        case VllmEngineGrpc.SERVICE_NAME -> {
          var message = dev.warmpath.proto.vllm.engine.GenerateRequest.parseFrom(request.body());
          yield prompt(null, message.getStream(), message.getTokenized().getInputIdsList());
        }
        case InferenceGrpc.SERVICE_NAME -> {
          var message = dev.warmpath.proto.vllm.inference.GenerateRequest.parseFrom(request.body());
          String model = message.getModel().isEmpty() ? null : message.getModel();
          yield prompt(model, true, message.getTokenIds().getIdsList());
        }
        default -> null;
      };
    } catch (InvalidProtocolBufferException e) {
      return null;
    }
  }

  private static @Nullable Prompt prompt(
      @Nullable String model, boolean stream, List<Integer> ids) {
    if (ids.isEmpty()) {
      return null;
    }
    int[] tokens = ids.stream().mapToInt(Integer::intValue).toArray();
    return Prompt.ofTokens(model, stream, BLOCKS.newChain().append(tokens).state());
  }
}
