package dev.warmpath.prompt.template.internal.library;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/** Character references of HTML 5, as Python's {@code html.unescape} resolves them. */
final class HtmlEntities {
  private static final int LONGEST_NAME = 32;

  /** What the numbers from 128 to 159 mean: the characters of Windows-1252. */
  private static final String WINDOWS_1252 =
      "\u20ac\u0081\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u008d\u017d\u008f"
          + "\u0090\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u009d\u017e\u0178";

  private HtmlEntities() {}

  /** The names and their texts; a class of its own, so that only who needs them loads them. */
  private static final class Names {
    static final Map<String, String> TEXTS = load();

    private static Map<String, String> load() {
      Map<String, String> texts = new HashMap<>();
      try (InputStream in =
              Objects.requireNonNull(HtmlEntities.class.getResourceAsStream("html-entities.txt"));
          BufferedReader lines =
              new BufferedReader(new InputStreamReader(in, StandardCharsets.US_ASCII))) {
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
          String[] fields = line.split(" ", -1);
          StringBuilder text = new StringBuilder(2);
          for (int i = 1; i < fields.length; i++) {
            text.appendCodePoint(Integer.parseInt(fields[i], 16));
          }
          texts.put(fields[0], text.toString());
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      return texts;
    }
  }

  static String unescape(String s) {
    int ampersand = s.indexOf('&');
    if (ampersand < 0) {
      return s;
    }
    StringBuilder out = new StringBuilder(s.length());
    int at = 0;
    while (ampersand >= 0) {
      out.append(s, at, ampersand);
      at = reference(s, ampersand, out);
      ampersand = s.indexOf('&', at);
    }
    return out.append(s, at, s.length()).toString();
  }

  /** Appends what stands at an ampersand and gives the offset behind it. */
  private static int reference(String s, int ampersand, StringBuilder out) {
    int from = ampersand + 1;
    if (from < s.length() && s.charAt(from) == '#') {
      boolean hexadecimal =
          from + 1 < s.length() && Character.toLowerCase(s.charAt(from + 1)) == 'x';
      int digits = from + (hexadecimal ? 2 : 1);
      int end = digits;
      while (end < s.length()
          && s.charAt(end) < 0x80
          && Character.digit(s.charAt(end), hexadecimal ? 16 : 10) >= 0) {
        end++;
      }
      if (end == digits) {
        out.append('&');
        return from;
      }
      number(s.substring(digits, end), hexadecimal ? 16 : 10, out);
      return end < s.length() && s.charAt(end) == ';' ? end + 1 : end;
    }
    int end = from;
    while (end < s.length()
        && end - from < LONGEST_NAME
        && "\t\n\f <&#;".indexOf(s.charAt(end)) < 0) {
      end++;
    }
    if (end == from) {
      out.append('&');
      return from;
    }
    int whole = end < s.length() && s.charAt(end) == ';' ? end + 1 : end;
    for (int to = whole; to > from + 1; to--) {
      String text = Names.TEXTS.get(s.substring(from, to));
      if (text != null) {
        out.append(text).append(s, to, whole);
        return whole;
      }
    }
    out.append(s, ampersand, whole);
    return whole;
  }

  private static void number(String digits, int radix, StringBuilder out) {
    String significant = digits.replaceFirst("^0+(?=.)", "");
    int code =
        significant.length() > 8
            ? Integer.MAX_VALUE
            : (int) Math.min(Long.parseLong(significant, radix), Integer.MAX_VALUE);
    if (code >= 0x80 && code <= 0x9f) {
      out.append(WINDOWS_1252.charAt(code - 0x80));
    } else if (code == 0 || code > Character.MAX_CODE_POINT || (code >= 0xd800 && code <= 0xdfff)) {
      out.append('\ufffd');
    } else if (code == '\r' || !isInvalid(code)) {
      out.appendCodePoint(code);
    }
  }

  private static boolean isInvalid(int code) {
    return (code < ' ' && code != '\t' && code != '\n' && code != '\f')
        || code == 0x7f
        || (code >= 0xfdd0 && code <= 0xfdef)
        || (code & 0xfffe) == 0xfffe;
  }
}
