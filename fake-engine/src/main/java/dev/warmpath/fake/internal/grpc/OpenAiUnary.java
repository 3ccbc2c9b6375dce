package dev.warmpath.fake.internal.grpc;

import com.google.protobuf.ByteString;
import dev.warmpath.fake.fault.Fault;
import dev.warmpath.proto.sglang.runtime.OpenAIResponse;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The JSON of a plain answer, with its HTTP status beside it. */
final class OpenAiUnary extends OpenAiExchange<OpenAIResponse> {
  OpenAiUnary(String path, byte[] body, GrpcCall<OpenAIResponse> call, @Nullable Fault fault) {
    super(path, body, call, fault);
  }

  @Override
  public void respond(int status, Map<String, String> headers, byte[] body) {
    call.respond(
        OpenAIResponse.newBuilder()
            .setJsonBody(ByteString.copyFrom(body))
            .setStatusCode(status)
            .build());
  }

  @Override
  public void chunk(byte[] data) {
    throw new UnsupportedOperationException("a plain answer is not streamed");
  }

  @Override
  public void end() {
    throw new UnsupportedOperationException("a plain answer is not streamed");
  }
}
