package dev.warmpath.fake.text;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Pattern;

/**
 * An encoder for tests: pairs of letters, the first with the space before it, are tokens, so that
 * words are not; a {@code q} swallows the two letters after it, so that a word cut there has other
 * ids. Texts have quotation marks and é where answers are planned with a and e.
 */
public final class SyllableEncoder implements PromptEncoder {
  private static final Pattern TOKEN = Pattern.compile(" ?q[a-z]{2}| ?[a-z]{1,2}|(?s:.)");

  private final ConcurrentHashMap<String, Integer> ids = new ConcurrentHashMap<>();
  private final List<String> texts = new CopyOnWriteArrayList<>();

  @Override
  public int[] encodeChat(ObjectNode body) throws PromptRejectedException {
    JsonNode arguments = body.path("chat_template_kwargs");
    if (arguments.has("refuse")) {
      throw new PromptRejectedException(arguments.path("refuse").asText());
    }
    StringBuilder prompt = new StringBuilder("<s>");
    body.path("tools").forEach(tool -> prompt.append(tool).append('\n'));
    for (JsonNode message : body.path("messages")) {
      prompt.append('<').append(message.path("role").asText()).append('>');
      prompt.append(message.path("content").asText()).append('\n');
    }
    if (body.path("add_generation_prompt").asBoolean(true)) {
      prompt.append("<assistant>");
    }
    return encode(prompt.toString(), false);
  }

  @Override
  public int[] encode(String text, boolean addSpecialTokens) {
    String letters = text.replace('"', 'a').replace('é', 'e');
    String whole = addSpecialTokens ? "\u0001" + letters : letters;
    return TOKEN.matcher(whole).results().mapToInt(token -> id(token.group())).toArray();
  }

  private int id(String token) {
    return ids.computeIfAbsent(
        token,
        text -> {
          texts.add(text);
          return texts.size() - 1;
        });
  }

  @Override
  public String decode(int[] tokens) {
    StringBuilder text = new StringBuilder();
    Arrays.stream(tokens).forEach(token -> text.append(texts.get(token)));
    return text.toString().replace('a', '"').replace('e', 'é');
  }
}
