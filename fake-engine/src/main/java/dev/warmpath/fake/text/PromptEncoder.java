package dev.warmpath.fake.text;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;

/**
 * What a fake engine has of its model: the chat template and the tokenizer. Token ids are all that
 * its scheduler, its prefix cache and its usage reports know of a prompt.
 *
 * <p>{@link FakeTokenizer} is the default. Another one, such as a real model's, makes a fake engine
 * agree with clients that count on the model's own tokens.
 *
 * <p>Called on the threads of all engines that share it, which wait for it: implementations are
 * thread-safe and don't block for long.
 */
public interface PromptEncoder {
  /**
   * Lays out and tokenizes a chat.
   *
   * @param body the body of a chat completion, or of a request to tokenize one: {@code messages}
   *     (not empty, each with a role), {@code tools}, {@code documents}, {@code
   *     chat_template_kwargs}, {@code add_generation_prompt}, {@code continue_final_message} and
   *     whatever else a template may depend on; not to be changed
   * @return the token ids
   * @throws PromptRejectedException if the template refuses the chat; the engine then answers 400
   */
  int[] encodeChat(ObjectNode body) throws PromptRejectedException;

  /**
   * Tokenizes plain text.
   *
   * @param text any text
   * @param addSpecialTokens whether to add what the model expects around a text, such as a token
   *     for its beginning
   * @return the token ids
   */
  int[] encode(String text, boolean addSpecialTokens);

  /**
   * Returns the text of token ids.
   *
   * @param ids token ids
   * @return the text, with U+FFFD where there is none
   */
  String decode(int[] ids);

  /**
   * Plans an answer whose ids are those that this encoder gives for its text, as far as the encoder
   * makes that possible.
   *
   * @param seed decides what is said
   * @param count how many tokens at most
   * @param stops texts that end the answer
   * @return the plan
   */
  default PlannedText plan(long seed, int count, List<String> stops) {
    return PlannedText.plan(this, seed, count, stops);
  }
}
