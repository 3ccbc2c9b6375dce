package dev.warmpath.fake.text;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.prompt.ModelFiles;
import dev.warmpath.prompt.Prompt;
import dev.warmpath.prompt.PromptReader;
import dev.warmpath.worker.EngineKind;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A real model's chat template and tokenizer for fake engines, by the same code that clients render
 * with: it shows what exact tokens do, and proves nothing of their being exact.
 */
public final class ModelPromptEncoder implements PromptEncoder {
  private final ModelFiles files;
  private final PromptReader reader;
  private final PromptReader.Serving serving;

  /**
   * Creates an encoder.
   *
   * @param files the model's
   * @param engine the kind of engine whose way of laying out chats is followed
   */
  public ModelPromptEncoder(ModelFiles files, EngineKind engine) {
    this.files = files;
    this.reader = PromptReader.builder().anyModel(files).build();
    this.serving = model -> new PromptReader.Served(Set.of(engine), null);
  }

  @Override
  public int[] encodeChat(ObjectNode body) throws PromptRejectedException {
    Prompt prompt = reader.read(RouterRequest.chatCompletions(body.toString()), serving);
    int @Nullable [] ids = prompt.tokenIds();
    if (ids == null) {
      throw new PromptRejectedException(
          prompt.inexactReason() == null ? "the chat has no text" : prompt.inexactReason());
    }
    return ids;
  }

  @Override
  public int[] encode(String text, boolean addSpecialTokens) {
    return files.tokenizer().encode(text, addSpecialTokens);
  }

  @Override
  public String decode(int[] ids) {
    return files.tokenizer().decode(ids, false);
  }
}
