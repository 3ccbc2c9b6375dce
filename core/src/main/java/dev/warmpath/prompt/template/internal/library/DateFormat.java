package dev.warmpath.prompt.template.internal.library;

import java.time.DayOfWeek;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.TextStyle;
import java.time.temporal.ChronoUnit;
import java.time.temporal.IsoFields;
import java.util.Locale;

/** C's {@code strftime} in the C locale, as glibc has it, for a time without a zone. */
final class DateFormat {
  private final LocalDateTime time;
  private final StringBuilder out = new StringBuilder();

  private DateFormat(LocalDateTime time) {
    this.time = time;
  }

  static String format(String format, LocalDateTime time) {
    DateFormat formatter = new DateFormat(time);
    formatter.append(format);
    return formatter.out.toString();
  }

  private void append(String format) {
    for (int i = 0; i < format.length(); i++) {
      char c = format.charAt(i);
      if (c != '%' || i + 1 == format.length()) {
        out.append(c);
        continue;
      }
      int at = i + 1;
      char pad = 0;
      boolean upper = false;
      boolean swap = false;
      while (at < format.length() && "_-0^#".indexOf(format.charAt(at)) >= 0) {
        char flag = format.charAt(at++);
        upper |= flag == '^';
        swap |= flag == '#';
        pad = flag == '^' || flag == '#' ? pad : flag;
      }
      int width = -1;
      while (at < format.length() && Character.isDigit(format.charAt(at)) && width < 1000) {
        width = Math.max(width, 0) * 10 + Character.digit(format.charAt(at++), 10);
      }
      if (at < format.length() && (format.charAt(at) == 'E' || format.charAt(at) == 'O')) {
        at++;
      }
      if (at == format.length() || !directive(format.charAt(at), pad, width, upper, swap)) {
        out.append(format, i, Math.min(at + 1, format.length()));
      }
      i = at;
    }
  }

  private boolean directive(char c, char pad, int width, boolean upper, boolean swap) {
    switch (c) {
      case 'd' -> number(time.getDayOfMonth(), 2, '0', pad, width);
      case 'e' -> number(time.getDayOfMonth(), 2, ' ', pad, width);
      case 'm' -> number(time.getMonthValue(), 2, '0', pad, width);
      case 'y' -> number(Math.floorMod(time.getYear(), 100), 2, '0', pad, width);
      case 'Y' -> number(time.getYear(), 1, '0', pad, width);
      case 'C' -> number(Math.floorDiv(time.getYear(), 100), 2, '0', pad, width);
      case 'H' -> number(time.getHour(), 2, '0', pad, width);
      case 'k' -> number(time.getHour(), 2, ' ', pad, width);
      case 'I' -> number(hour12(), 2, '0', pad, width);
      case 'l' -> number(hour12(), 2, ' ', pad, width);
      case 'M' -> number(time.getMinute(), 2, '0', pad, width);
      case 'S' -> number(time.getSecond(), 2, '0', pad, width);
      case 'f' -> out.append(String.format(Locale.ROOT, "%06d", time.getNano() / 1000));
      case 'j' -> number(time.getDayOfYear(), 3, '0', pad, width);
      case 'w' -> number(time.getDayOfWeek().getValue() % 7, 1, '0', pad, width);
      case 'u' -> number(time.getDayOfWeek().getValue(), 1, '0', pad, width);
      case 'U' -> number(week(DayOfWeek.SUNDAY), 2, '0', pad, width);
      case 'W' -> number(week(DayOfWeek.MONDAY), 2, '0', pad, width);
      case 'V' -> number(time.get(IsoFields.WEEK_OF_WEEK_BASED_YEAR), 2, '0', pad, width);
      case 'G' -> number(time.get(IsoFields.WEEK_BASED_YEAR), 1, '0', pad, width);
      case 'g' ->
          number(Math.floorMod(time.get(IsoFields.WEEK_BASED_YEAR), 100), 2, '0', pad, width);
      case 's' -> text(Long.toString(time.toEpochSecond(ZoneOffset.UTC)), pad, width, false);
      case 'a' ->
          text(
              time.getDayOfWeek().getDisplayName(TextStyle.SHORT, Locale.ENGLISH),
              pad,
              width,
              upper || swap);
      case 'A' ->
          text(
              time.getDayOfWeek().getDisplayName(TextStyle.FULL, Locale.ENGLISH),
              pad,
              width,
              upper || swap);
      case 'b', 'h' -> text(month(3), pad, width, upper || swap);
      case 'B' -> text(month(Integer.MAX_VALUE), pad, width, upper || swap);
      case 'p' -> text(swap ? amPm().toLowerCase(Locale.ROOT) : amPm(), pad, width, false);
      case 'P' -> text(amPm().toLowerCase(Locale.ROOT), pad, width, false);
      case 'z', 'Z' -> {}
      case 'n' -> out.append('\n');
      case 't' -> out.append('\t');
      case '%' -> text("%", pad, width, false);
      case 'c' -> composite("%a %b %e %H:%M:%S %Y", pad, width, upper);
      case 'D', 'x' -> composite("%m/%d/%y", pad, width, upper);
      case 'F' -> composite("%Y-%m-%d", pad, width, upper);
      case 'r' -> composite("%I:%M:%S %p", pad, width, upper);
      case 'R' -> composite("%H:%M", pad, width, upper);
      case 'T', 'X' -> composite("%H:%M:%S", pad, width, upper);
      default -> {
        return false;
      }
    }
    return true;
  }

  private String month(int length) {
    String name = time.getMonth().getDisplayName(TextStyle.FULL, Locale.ENGLISH);
    return name.substring(0, Math.min(length, name.length()));
  }

  private String amPm() {
    return time.getHour() < 12 ? "AM" : "PM";
  }

  private int hour12() {
    return (time.getHour() + 11) % 12 + 1;
  }

  /** Weeks of the year, the first of which begins with the first such day. */
  private int week(DayOfWeek firstDay) {
    int sinceFirstDay = Math.floorMod(time.getDayOfWeek().getValue() - firstDay.getValue(), 7);
    return (int)
        ((ChronoUnit.DAYS.between(time.toLocalDate().withDayOfYear(1), time.toLocalDate())
                + 7
                - sinceFirstDay)
            / 7);
  }

  private void number(int value, int digits, char usualPad, char pad, int width) {
    String text = Integer.toString(value);
    int length = width >= 0 ? width : digits;
    if (pad == '-') {
      out.append(text);
      return;
    }
    char fill = pad == '_' ? ' ' : pad == '0' ? '0' : usualPad;
    out.append(String.valueOf(fill).repeat(Math.max(length - text.length(), 0))).append(text);
  }

  private void text(String text, char pad, int width, boolean upper) {
    out.append(String.valueOf(pad == '0' ? '0' : ' ').repeat(Math.max(width - text.length(), 0)));
    out.append(upper ? text.toUpperCase(Locale.ROOT) : text);
  }

  private void composite(String format, char pad, int width, boolean upper) {
    text(format(format, time), pad, width, upper);
  }
}
