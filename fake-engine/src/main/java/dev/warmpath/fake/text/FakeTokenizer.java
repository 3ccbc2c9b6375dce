package dev.warmpath.fake.text;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * The tokenizer of fake engines: every 4 bytes of UTF-8 are a token.
 *
 * <p>A text is cut into pieces of 4 bytes from its beginning (the last one may be shorter), and
 * each piece is hashed to a positive 31-bit id. Equal text gives equal tokens everywhere, and
 * appending to a text changes at most its last token, so prefixes stay prefixes. A conversation is
 * rendered turn by turn, each with a marker of its role in front and an end marker behind, so that
 * it is prefix-stable at every turn. {@link PlannedText} is made of 4-byte words: an answer that
 * comes back as a turn of the next request has the very tokens that were generated.
 *
 * <p>It resembles real tokenizers only in size (about 4 bytes of English to a token).
 */
public final class FakeTokenizer implements PromptEncoder {
  private static final FakeTokenizer INSTANCE = new FakeTokenizer();
  private static final int PIECE_BYTES = 4;
  private static final int END_OF_TURN = special("<|end|>");

  private FakeTokenizer() {}

  /**
   * Returns the tokenizer as an engine takes it.
   *
   * @return the one instance; it has no state
   */
  public static FakeTokenizer instance() {
    return INSTANCE;
  }

  /** Tools come first, as a turn of their own; the generation prompt unless the body forbids it. */
  @Override
  public int[] encodeChat(ObjectNode body) {
    List<Turn> turns = new ArrayList<>();
    JsonNode tools = body.path("tools");
    if (tools.isArray() && !tools.isEmpty()) {
      turns.add(new Turn("tools", tools.toString()));
    }
    for (JsonNode message : body.path("messages")) {
      StringBuilder content = new StringBuilder();
      append(content, message.path("content"));
      append(content, message.path("tool_calls"));
      append(content, message.path("tool_call_id"));
      turns.add(new Turn(message.path("role").asText(""), content.toString()));
    }
    return encodeChat(turns, body.path("add_generation_prompt").asBoolean(true));
  }

  /** Text as it is, text parts one after the other, anything else as JSON. */
  private static void append(StringBuilder content, JsonNode node) {
    if (node.isTextual()) {
      content.append(node.asText());
    } else if (node.isArray()) {
      for (JsonNode part : node) {
        JsonNode text = part.path("text");
        content.append(text.isTextual() ? text.asText() : part.toString());
      }
    } else if (!node.isMissingNode() && !node.isNull()) {
      content.append(node);
    }
  }

  /** There are no special tokens to add. */
  @Override
  public int[] encode(String text, boolean addSpecialTokens) {
    return encode(text);
  }

  /** Only the words of answers can be told from their ids. */
  @Override
  public String decode(int[] ids) {
    StringBuilder text = new StringBuilder(ids.length * PIECE_BYTES);
    for (int id : ids) {
      text.append(PlannedText.word(id));
    }
    return text.toString();
  }

  @Override
  public PlannedText plan(long seed, int count, List<String> stops) {
    return PlannedText.plan(seed, count, stops);
  }

  /**
   * One message of a conversation.
   *
   * @param role who speaks, such as {@code user}
   * @param content what is said
   */
  public record Turn(String role, String content) {}

  /**
   * Tokenizes plain text.
   *
   * @param text any text
   * @return its token ids; empty for an empty text
   */
  public static int[] encode(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    int[] tokens = new int[pieces(bytes.length)];
    encodeInto(bytes, tokens, 0);
    return tokens;
  }

  /**
   * Renders and tokenizes a conversation.
   *
   * @param turns its messages, oldest first
   * @param generationPrompt whether to end with the marker that makes the assistant speak
   * @return token ids
   */
  public static int[] encodeChat(List<Turn> turns, boolean generationPrompt) {
    byte[][] contents = new byte[turns.size()][];
    int count = generationPrompt ? 1 : 0;
    for (int i = 0; i < contents.length; i++) {
      contents[i] = turns.get(i).content().getBytes(StandardCharsets.UTF_8);
      count += 2 + pieces(contents[i].length);
    }
    int[] tokens = new int[count];
    int at = 0;
    for (int i = 0; i < contents.length; i++) {
      tokens[at++] = special("<|" + turns.get(i).role() + "|>");
      at = encodeInto(contents[i], tokens, at);
      tokens[at++] = END_OF_TURN;
    }
    if (generationPrompt) {
      tokens[at] = special("<|assistant|>");
    }
    return tokens;
  }

  private static int pieces(int bytes) {
    return (bytes + PIECE_BYTES - 1) / PIECE_BYTES;
  }

  private static int encodeInto(byte[] bytes, int[] tokens, int start) {
    int at = start;
    int i = 0;
    for (; i + PIECE_BYTES <= bytes.length; i += PIECE_BYTES) {
      int piece =
          (bytes[i] & 0xFF) << 24
              | (bytes[i + 1] & 0xFF) << 16
              | (bytes[i + 2] & 0xFF) << 8
              | (bytes[i + 3] & 0xFF);
      tokens[at++] = id(piece, PIECE_BYTES);
    }
    if (i < bytes.length) {
      int piece = 0;
      int length = bytes.length - i;
      for (; i < bytes.length; i++) {
        piece = piece << 8 | (bytes[i] & 0xFF);
      }
      tokens[at++] = id(piece, length);
    }
    return at;
  }

  private static int id(int piece, int length) {
    int hash = piece * 0x9E3779B1 + length;
    hash = (hash ^ (hash >>> 15)) * 0x85EBCA77;
    hash = (hash ^ (hash >>> 13)) * 0xC2B2AE3D;
    return (hash ^ (hash >>> 16)) & Integer.MAX_VALUE;
  }

  private static int special(String marker) {
    return id(marker.hashCode(), PIECE_BYTES + 1);
  }
}
