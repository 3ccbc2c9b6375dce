package dev.warmpath.fake.internal.grpc;

import com.google.protobuf.ByteString;
import dev.warmpath.fake.fault.Fault;
import dev.warmpath.proto.sglang.runtime.OpenAIStreamChunk;
import io.grpc.Status;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The JSON of an answer's events, one to a message; the closing {@code [DONE]} is a flag here. */
final class OpenAiStream extends OpenAiExchange<OpenAIStreamChunk> {
  private static final String DATA = "data: ";
  private static final String DONE = "[DONE]";
  private static final String ERROR = "{\"error\":";

  private boolean done;

  OpenAiStream(String path, byte[] body, GrpcCall<OpenAIStreamChunk> call, @Nullable Fault fault) {
    super(path, body, call, fault);
  }

  @Override
  public void respond(int status, Map<String, String> headers, byte[] body) {
    if (status == 200) {
      call.respond(chunk(ByteString.copyFrom(body), true));
    } else {
      call.fail(
          Status.INTERNAL.withDescription(
              status + ": " + new String(body, StandardCharsets.UTF_8)));
    }
  }

  @Override
  public void chunk(byte[] data) {
    for (String line : new String(data, StandardCharsets.UTF_8).split("\n", -1)) {
      if (!line.startsWith(DATA)) {
        continue;
      }
      String json = line.substring(DATA.length());
      if (json.equals(DONE)) {
        done = true;
      } else if (json.startsWith(ERROR)) {
        call.fail(Status.INTERNAL.withDescription(json));
      } else {
        call.send(chunk(ByteString.copyFromUtf8(json), false));
      }
    }
  }

  @Override
  public void end() {
    if (done) {
      call.send(chunk(ByteString.EMPTY, true));
    }
    call.end();
  }

  private static OpenAIStreamChunk chunk(ByteString json, boolean finished) {
    return OpenAIStreamChunk.newBuilder().setJsonChunk(json).setFinished(finished).build();
  }
}
