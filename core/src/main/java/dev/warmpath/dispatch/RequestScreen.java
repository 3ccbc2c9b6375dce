package dev.warmpath.dispatch;

import dev.warmpath.api.RouterRequest;
import dev.warmpath.prompt.Prompt;
import dev.warmpath.transport.PromptTokens;
import dev.warmpath.worker.Worker;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Knows what the transports of workers can carry. Quick and thread safe. */
public interface RequestScreen {
  /** Everything can be sent to everybody, and nobody wants tokens. */
  RequestScreen NONE =
      new RequestScreen() {
        @Override
        public @Nullable Function<Worker, @Nullable String> look(
            RouterRequest request, Prompt prompt) {
          return null;
        }

        @Override
        public @Nullable PromptTokens tokens(Worker worker, Prompt prompt) {
          return null;
        }
      };

  /**
   * Looks at a request before each decision.
   *
   * @return tells why a worker can't be sent it, or null if it can; null in the place of all that
   *     where nobody is to be left out
   */
  @Nullable Function<Worker, @Nullable String> look(RouterRequest request, Prompt prompt);

  /** The tokens that go to a worker with its request; null where its engine reads the body. */
  @Nullable PromptTokens tokens(Worker worker, Prompt prompt);
}
