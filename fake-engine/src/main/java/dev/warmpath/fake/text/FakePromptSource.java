package dev.warmpath.fake.text;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.hash.HashParams;
import dev.warmpath.hash.HashScheme;
import dev.warmpath.hash.HashSchemes;
import dev.warmpath.prompt.Prompt;
import dev.warmpath.prompt.PromptSource;
import java.io.IOException;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Tells a router the tokens of chats as fake engines count them, by {@link FakeTokenizer}: what a
 * model's files are to the engines that run it. Thread-safe.
 */
public final class FakePromptSource implements PromptSource {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final ConcurrentHashMap<String, HashScheme> schemes = new ConcurrentHashMap<>();

  /** Creates a source; it may serve any number of routers. */
  public FakePromptSource() {}

  /**
   * Reads a chat without tools, adapters and salts.
   *
   * @return null for everything else, which is then read from its body
   */
  @Override
  public @Nullable Prompt read(RouterRequest request) {
    if (!request.path().equals(RouterRequest.CHAT_COMPLETIONS)) {
      return null;
    }
    JsonNode body;
    try {
      body = JSON.readTree(request.body());
    } catch (IOException e) {
      return null; // whoever reads it next says what is wrong
    }
    if (!(body instanceof ObjectNode chat)
        || !chat.path("model").isTextual()
        || !chat.path("messages").isArray()
        || chat.has("tools")
        || chat.has("cache_salt")
        || chat.has("lora_path")) {
      return null;
    }
    String model = chat.path("model").textValue();
    HashScheme scheme = schemes.computeIfAbsent(model, FakePromptSource::scheme);
    int[] tokens = FakeTokenizer.instance().encodeChat(chat);
    return Prompt.ofTokens(
        model,
        chat.path("stream").asBoolean(false),
        scheme.newChain().append(tokens).state(),
        new FakeTokens(tokens));
  }

  private static HashScheme scheme(String model) {
    return HashSchemes.content(
        HashParams.builder().model(model).blockSize(Prompt.CLIENT_BLOCK_TOKENS).build());
  }
}
