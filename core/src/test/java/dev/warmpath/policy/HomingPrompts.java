package dev.warmpath.policy;

import dev.warmpath.hash.BlockChain;
import dev.warmpath.hash.HashParams;
import dev.warmpath.hash.HashScheme;
import dev.warmpath.hash.HashSchemes;
import dev.warmpath.prompt.ContentKeys;
import dev.warmpath.prompt.Prompt;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Prompts spelled as texts of one letter for each content key: equal prefixes share keys. */
final class HomingPrompts {
  static final int TOKENS = ContentKeys.BLOCK_TOKENS;

  private static final HashScheme SCHEME =
      HashSchemes.content(
          HashParams.builder().blockSize(Prompt.CLIENT_BLOCK_TOKENS).model("m").build());

  private HomingPrompts() {}

  static Prompt of(String text) {
    return of("m", text);
  }

  static Prompt of(@Nullable String model, String text) {
    BlockChain chain = SCHEME.newChain();
    int[] block = new int[TOKENS];
    for (int i = 0; i < text.length(); i++) {
      Arrays.fill(block, text.charAt(i));
      chain.append(block);
    }
    return Prompt.ofTokens(model, true, chain.state());
  }
}
