package dev.warmpath.grpc;

import dev.warmpath.prompt.ModelFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A model whose tokens are bytes, with ChatML's two markers. */
public final class TinyModel {
  /** Ends a turn. */
  public static final int END = 257;

  private static final String TEMPLATE =
      "{% for m in messages %}<|im_start|>{{ m.role }}\\n{{ m.content }}<|im_end|>{% endfor %}"
          + "{% if add_generation_prompt %}<|im_start|>assistant\\n{% endif %}";

  private TinyModel() {}

  /** Lays the model out in a directory. */
  public static Path writeTo(Path directory) {
    StringBuilder vocabulary = new StringBuilder();
    for (int i = 0; i < 256; i++) {
      vocabulary.append(i == 0 ? "" : ",").append(String.format("\"\\u%04x\":%d", shown(i), i));
    }
    try {
      Files.createDirectories(directory);
      Files.writeString(
          directory.resolve("tokenizer.json"),
          "{\"version\":\"1.0\",\"truncation\":null,\"padding\":null,\"added_tokens\":["
              + added(256, "<|im_start|>")
              + ","
              + added(END, "<|im_end|>")
              + "],\"normalizer\":null,\"pre_tokenizer\":{\"type\":\"ByteLevel\","
              + "\"add_prefix_space\":false,\"trim_offsets\":true,\"use_regex\":true},"
              + "\"post_processor\":null,\"decoder\":{\"type\":\"ByteLevel\","
              + "\"add_prefix_space\":true,\"trim_offsets\":true,\"use_regex\":true},"
              + "\"model\":{\"type\":\"BPE\",\"dropout\":null,\"unk_token\":null,"
              + "\"continuing_subword_prefix\":null,\"end_of_word_suffix\":null,"
              + "\"fuse_unk\":false,\"byte_fallback\":false,\"vocab\":{"
              + vocabulary
              + "},\"merges\":[]}}");
      Files.writeString(
          directory.resolve("tokenizer_config.json"),
          "{\"eos_token\":\"<|im_end|>\",\"chat_template\":\"" + TEMPLATE + "\"}");
      return directory;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The model, read back. */
  public static ModelFiles files(Path directory) {
    return ModelFiles.of(writeTo(directory));
  }

  /** A text's tokens: its bytes. */
  public static List<Integer> ids(String text) {
    List<Integer> ids = new ArrayList<>();
    for (byte each : text.getBytes(java.nio.charset.StandardCharsets.UTF_8)) {
      ids.add(each & 0xff);
    }
    return ids;
  }

  private static String added(int id, String content) {
    return "{\"id\":"
        + id
        + ",\"content\":\""
        + content
        + "\",\"single_word\":false,\"lstrip\":false,\"rstrip\":false,\"normalized\":false,"
        + "\"special\":true}";
  }

  /** The character by which byte-level vocabularies show a byte, as GPT-2 introduced them. */
  private static int shown(int b) {
    boolean itself = (b >= '!' && b <= '~') || (b >= 0xa1 && b <= 0xac) || (b >= 0xae && b <= 0xff);
    if (itself) {
      return b;
    }
    int before = 0;
    for (int i = 0; i < b; i++) {
      boolean printable =
          (i >= '!' && i <= '~') || (i >= 0xa1 && i <= 0xac) || (i >= 0xae && i <= 0xff);
      before += printable ? 0 : 1;
    }
    return 256 + before;
  }
}
