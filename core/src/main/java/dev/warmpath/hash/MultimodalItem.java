package dev.warmpath.hash;

import java.util.Objects;

/**
 * An image, audio or video in the prompt. vLLM and llm-d hash its identifier, Dynamo the 64-bit
 * number the identifier stands for, into every block that the item's placeholder tokens touch.
 * SGLang needs none of this: it puts {@link HashSchemes#sglangPadToken} in place of the
 * placeholders.
 *
 * @param identifier the engine's hash of the item's content, or the id the user gave it
 * @param offset position of the first placeholder token in the prompt
 * @param length number of placeholder tokens, at least 1
 */
public record MultimodalItem(String identifier, long offset, int length) implements BlockExtra {

  /** Checks the range. */
  public MultimodalItem {
    Objects.requireNonNull(identifier, "identifier");
    if (offset < 0 || length < 1) {
      throw new IllegalArgumentException(
          "a multimodal item needs an offset of at least 0 and a length of at least 1, not "
              + offset
              + " and "
              + length);
    }
  }

  /** Position of the first token after the item. */
  long end() {
    return offset + length;
  }
}
