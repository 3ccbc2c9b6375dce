package dev.warmpath.prompt.template.internal.python;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The output of a rendering. Long texts, which are most of a prompt, are kept as they are and
 * copied once, at the end.
 */
public final class TextOut {
  private static final int LONG = 256;

  /** The short texts, one after another. */
  private final StringBuilder shorts = new StringBuilder(1_024);

  private String[] longs = new String[32];

  /** Where in the short texts each long one comes. */
  private int[] places = new int[32];

  private int count;
  private int longLength;

  TextOut() {}

  /** Appends a text. */
  public void append(String text) {
    if (text.length() < LONG) {
      shorts.append(text);
      return;
    }
    if (count == longs.length) {
      longs = Arrays.copyOf(longs, 2 * count);
      places = Arrays.copyOf(places, 2 * count);
    }
    longs[count] = text;
    places[count++] = shorts.length();
    longLength += text.length();
  }

  /** The length in UTF-16 units. */
  public int length() {
    return shorts.length() + longLength;
  }

  /**
   * Takes off what was written since the output had a length.
   *
   * @param start a length that it had between two texts
   */
  public String cut(int start) {
    int longsBefore = longLength;
    int first = count;
    while (first > 0 && places[first - 1] + longsBefore - longs[first - 1].length() >= start) {
      longsBefore -= longs[first - 1].length();
      first--;
    }
    int from = start - longsBefore;
    if (first == count) {
      String text = shorts.substring(from);
      shorts.setLength(from);
      return text;
    }
    StringBuilder text = new StringBuilder(length() - start);
    write(text, first, from);
    Arrays.fill(longs, first, count, "");
    count = first;
    longLength = longsBefore;
    shorts.setLength(from);
    return text.toString();
  }

  private void write(StringBuilder text, int first, int from) {
    int at = from;
    for (int i = first; i < count; i++) {
      text.append(shorts, at, places[i]).append(longs[i]);
      at = places[i];
    }
    text.append(shorts, at, shorts.length());
  }

  /** All of it as UTF-8. */
  public byte[] utf8() {
    byte[] out = new byte[length()];
    int size = 0;
    int at = 0;
    for (int i = 0; i <= count; i++) {
      int end = i < count ? places[i] : shorts.length();
      if (end > at) {
        byte[] piece = shorts.substring(at, end).getBytes(StandardCharsets.UTF_8);
        out = append(out, size, piece);
        size += piece.length;
        at = end;
      }
      if (i < count) {
        byte[] piece = longs[i].getBytes(StandardCharsets.UTF_8);
        out = append(out, size, piece);
        size += piece.length;
      }
    }
    return size == out.length ? out : Arrays.copyOf(out, size);
  }

  private static byte[] append(byte[] out, int size, byte[] piece) {
    byte[] room =
        out.length - size < piece.length
            ? Arrays.copyOf(out, Math.max(out.length + (out.length >> 1), size + piece.length))
            : out;
    System.arraycopy(piece, 0, room, size, piece.length);
    return room;
  }

  @Override
  public String toString() {
    if (count == 0) {
      return shorts.toString();
    }
    StringBuilder text = new StringBuilder(length());
    write(text, 0, 0);
    return text.toString();
  }
}
