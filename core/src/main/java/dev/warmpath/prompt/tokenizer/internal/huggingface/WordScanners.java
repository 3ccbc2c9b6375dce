package dev.warmpath.prompt.tokenizer.internal.huggingface;

import dev.warmpath.prompt.tokenizer.internal.unicode.CodePoints;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The scanners that there are. */
final class WordScanners {
  /** All of them. */
  static final List<WordScanner> ALL =
      List.of(
          Gpt2Scanner.INSTANCE,
          // Llama 3, GLM-4, GPT-4
          new Cl100kScanner(CodePoints.LETTER, 3),
          // Qwen 2, 2.5 and 3
          new Cl100kScanner(CodePoints.LETTER, 1),
          // Qwen 3.5
          new Cl100kScanner(CodePoints.LETTER | CodePoints.MARK, 1),
          // gpt-oss, Llama 4
          new O200kScanner(true, 3),
          // Mistral's Tekken
          new O200kScanner(false, 1),
          DeepSeekScanner.INSTANCE);

  private WordScanners() {}

  /**
   * The scanner for expressions that split a text one after another, each isolating its matches;
   * null if there is none.
   */
  static @Nullable WordScanner of(List<String> regexes) {
    for (WordScanner scanner : ALL) {
      if (scanner.regexes().equals(regexes)) {
        return scanner;
      }
    }
    return null;
  }
}
