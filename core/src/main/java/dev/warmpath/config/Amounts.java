package dev.warmpath.config;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Numbers with units, as the file has them. */
final class Amounts {
  private static final Pattern AMOUNT = Pattern.compile("(\\d+(?:\\.\\d+)?)\\s*([a-zA-Zµ]+)");

  private Amounts() {}

  /** A length of time with its unit, or null where it is none. */
  static @Nullable Duration duration(String text) {
    if (text.equals("0")) {
      return Duration.ZERO;
    }
    if (text.startsWith("P") || text.startsWith("p")) {
      try {
        return Duration.parse(text);
      } catch (DateTimeParseException e) {
        return null;
      }
    }
    Matcher amount = AMOUNT.matcher(text);
    if (!amount.matches()) {
      return null;
    }
    double nanos =
        switch (amount.group(2)) {
          case "ns" -> 1;
          case "us", "µs" -> 1e3;
          case "ms" -> 1e6;
          case "s" -> 1e9;
          case "m", "min" -> 60e9;
          case "h" -> 3_600e9;
          case "d" -> 86_400e9;
          default -> Double.NaN;
        };
    double value = nanos * Double.parseDouble(amount.group(1));
    return value < Long.MAX_VALUE ? Duration.ofNanos(Math.round(value)) : null;
  }

  /** A length of time in its largest whole unit. */
  static String print(Duration value) {
    long nanos = value.toNanos();
    long[] sizes = {86_400_000_000_000L, 3_600_000_000_000L, 60_000_000_000L, 1_000_000_000L};
    String[] units = {"d", "h", "m", "s"};
    if (nanos == 0) {
      return "0";
    }
    for (int i = 0; i < sizes.length; i++) {
      if (nanos % sizes[i] == 0) {
        return nanos / sizes[i] + units[i];
      }
    }
    return nanos % 1_000_000 == 0 ? nanos / 1_000_000 + "ms" : nanos + "ns";
  }

  /** A number of bytes, with its unit or not, or null where it is none. */
  static @Nullable Long bytes(String text) {
    try {
      return Long.valueOf(text);
    } catch (NumberFormatException e) {
      Matcher amount = AMOUNT.matcher(text);
      if (!amount.matches()) {
        return null;
      }
      int shift =
          switch (amount.group(2).toUpperCase(Locale.ROOT)) {
            case "B" -> 0;
            case "K", "KB", "KIB" -> 10;
            case "M", "MB", "MIB" -> 20;
            case "G", "GB", "GIB" -> 30;
            default -> -1;
          };
      double value = Double.parseDouble(amount.group(1)) * (shift < 0 ? -1 : 1L << shift);
      return value >= 0 && value < Long.MAX_VALUE && value == Math.rint(value)
          ? Long.valueOf((long) value)
          : null;
    }
  }
}
