package dev.warmpath.grpc.internal;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.api.StreamEvent;
import dev.warmpath.proto.sglang.runtime.OpenAIStreamChunk;
import java.io.IOException;
import java.util.function.Consumer;

/** OpenAI's JSON as the engine wrote it, chunk by chunk; one chunk where it does not stream. */
final class PassedStream implements Answer<OpenAIStreamChunk> {
  private static final String ERROR = "\"error\"";

  private final boolean streaming;
  private byte[] whole = {};
  private boolean any;

  PassedStream(boolean streaming) {
    this.streaming = streaming;
  }

  @Override
  public void take(OpenAIStreamChunk chunk, Consumer<StreamEvent> events)
      throws EngineErrorException {
    if (chunk.getJsonChunk().isEmpty()) {
      return;
    }
    any = true;
    String json = chunk.getJsonChunk().toStringUtf8();
    if (json.contains(ERROR)) {
      refuse(json);
    }
    if (streaming) {
      events.accept(new StreamEvent(null, json));
    } else {
      whole = chunk.getJsonChunk().toByteArray();
    }
  }

  private static void refuse(String json) throws EngineErrorException {
    JsonNode error;
    try {
      JsonNode document = BodyFields.JSON.readTree(json);
      error = "error".equals(document.path("object").asText()) ? document : document.path("error");
    } catch (IOException e) {
      throw new EngineErrorException(502, "the engine's chunk is not valid JSON");
    }
    if (!error.isMissingNode() && !error.isNull()) {
      int code = error.path("code").asInt();
      throw new EngineErrorException(
          code >= 400 && code < 600 ? code : 500, "the engine reported an error");
    }
  }

  @Override
  public void end(Consumer<StreamEvent> events) throws EngineErrorException {
    if (!any) {
      throw new EngineErrorException(502, "the engine ended the call without an answer");
    }
  }

  @Override
  public byte[] body() {
    return whole;
  }
}
