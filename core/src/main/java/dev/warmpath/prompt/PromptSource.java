package dev.warmpath.prompt;

import dev.warmpath.api.RouterRequest;
import org.jspecify.annotations.Nullable;

/**
 * Knows the prompts of requests without reading their bodies: an application's own tokenizer, or a
 * trace. Called once a request, on the thread that reads prompts; thread safe and quick.
 */
@FunctionalInterface
public interface PromptSource {
  /**
   * What is asked, such as {@link Prompt#ofTokens} makes it.
   *
   * @return null where the body is to be read
   */
  @Nullable Prompt read(RouterRequest request);
}
