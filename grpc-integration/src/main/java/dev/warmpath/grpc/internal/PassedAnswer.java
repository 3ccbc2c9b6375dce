package dev.warmpath.grpc.internal;

import dev.warmpath.api.StreamEvent;
import dev.warmpath.proto.sglang.runtime.OpenAIResponse;
import java.util.function.Consumer;

/** OpenAI's JSON as the engine wrote it, with the status it gave. */
final class PassedAnswer implements Answer<OpenAIResponse> {
  private OpenAIResponse response = OpenAIResponse.getDefaultInstance();

  @Override
  public void take(OpenAIResponse message, Consumer<StreamEvent> events) {
    response = message;
  }

  @Override
  public void end(Consumer<StreamEvent> events) {
    // a call of one message has nothing more to say
  }

  @Override
  public byte[] body() {
    return response.getJsonBody().toByteArray();
  }

  @Override
  public int status() {
    return response.getStatusCode() == 0 ? 200 : response.getStatusCode();
  }
}
