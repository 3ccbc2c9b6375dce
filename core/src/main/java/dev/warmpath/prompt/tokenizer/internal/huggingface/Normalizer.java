package dev.warmpath.prompt.tokenizer.internal.huggingface;

import dev.warmpath.prompt.tokenizer.internal.unicode.Bytes;
import dev.warmpath.prompt.tokenizer.internal.unicode.CodePoints;
import dev.warmpath.prompt.tokenizer.internal.unicode.Normalization;
import dev.warmpath.prompt.tokenizer.internal.unicode.Utf8;
import java.text.Normalizer.Form;
import java.util.List;
import java.util.function.UnaryOperator;

/** Changes a text before it is split into words. */
@FunctionalInterface
interface Normalizer {
  /** The normalized text; the argument itself where nothing changes. */
  Slice normalize(Slice text);

  /** Normalization Form C; most text is in it already. */
  static Normalizer nfc() {
    return text ->
        Normalization.isNfc(text.bytes(), text.from(), text.to())
            ? text
            : Slice.of(Normalization.nfc(text.bytes(), text.from(), text.to()));
  }

  /** Another normalization form. */
  static Normalizer form(Form form) {
    return nonAscii(text -> Normalization.normalize(text, form));
  }

  /** Removes combining marks. */
  static Normalizer stripAccents() {
    return nonAscii(Normalization::stripMarks);
  }

  /** Lower case. */
  static Normalizer lowercase() {
    return text -> Slice.of(Normalization.toLowerCase(text.text()));
  }

  /** Puts something before a text that is not empty. */
  static Normalizer prepend(byte[] prefix) {
    return text -> {
      if (text.isEmpty()) {
        return text;
      }
      Bytes out = new Bytes(prefix.length + text.to() - text.from());
      out.append(prefix);
      out.append(text.bytes(), text.from(), text.to());
      return new Slice(out.array(), 0, out.size());
    };
  }

  /** Replaces each match. */
  static Normalizer replace(Splits pattern, byte[] content) {
    return text -> {
      Bytes out = new Bytes(text.to() - text.from() + ((text.to() - text.from()) >> 1));
      int[] copied = {text.from()};
      pattern.find(
          text.bytes(),
          text.from(),
          text.to(),
          (start, end) -> {
            out.append(text.bytes(), copied[0], start);
            out.append(content);
            copied[0] = end;
          });
      if (copied[0] == text.from() && out.size() == 0) {
        return text;
      }
      out.append(text.bytes(), copied[0], text.to());
      return new Slice(out.array(), 0, out.size());
    };
  }

  /** Removes white space at the ends. */
  static Normalizer strip(boolean left, boolean right) {
    return text -> {
      int from = text.from();
      int to = text.to();
      while (left && from < to && CodePoints.isSpace(Utf8.codePointAt(text.bytes(), from))) {
        from += Utf8.width(text.bytes()[from]);
      }
      while (right && from < to) {
        int last = Utf8.previous(text.bytes(), from, to);
        if (!CodePoints.isSpace(Utf8.codePointAt(text.bytes(), last))) {
          break;
        }
        to = last;
      }
      return new Slice(text.bytes(), from, to);
    };
  }

  /** SentencePiece's {@code nmt} rules: no control characters, one kind of space. */
  static Normalizer nmt() {
    return text -> {
      Bytes out = new Bytes(text.to() - text.from());
      text.text()
          .codePoints()
          .forEach(
              c -> {
                switch (c) {
                  case 0x9, 0xA, 0xC, 0xD, 0x1680, 0x2028, 0x2029, 0x2581, 0xFEFF, 0xFFFD ->
                      out.append(' ');
                  case 0xB, 0x7F, 0x8F, 0x9F -> {}
                  default -> {
                    if (c >= 0x200B && c <= 0x200F) {
                      out.append(' ');
                    } else if (c < 0x1 || (c > 0x8 && c < 0xE) || c > 0x1F) {
                      out.appendCodePoint(c);
                    }
                  }
                }
              });
      return new Slice(out.array(), 0, out.size());
    };
  }

  /** Writes each byte as its character of the byte-level alphabet. */
  static Normalizer byteLevel() {
    return text -> Slice.of(ByteLevel.fromBytes(text.bytes(), text.from(), text.to()));
  }

  /** One after another. */
  static Normalizer sequence(List<Normalizer> steps) {
    return text -> {
      Slice result = text;
      for (Normalizer step : steps) {
        result = step.normalize(result);
      }
      return result;
    };
  }

  private static Normalizer nonAscii(UnaryOperator<String> change) {
    return text -> text.isAscii() ? text : Slice.of(change.apply(text.text()));
  }
}
