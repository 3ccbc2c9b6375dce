package dev.warmpath.examples;

import java.util.List;
import java.util.Locale;

/** Figures of a report, as inline SVG. */
final class Charts {
  private static final String[] COLOURS = {
    "#2563eb", "#d97706", "#059669", "#db2777", "#7c3aed", "#0891b2", "#65a30d", "#dc2626"
  };

  private static final int LEFT = 44;
  private static final int RIGHT = 428;
  private static final int BOTTOM = 160;
  private static final int TOP = 10;

  private Charts() {}

  /**
   * One line, or one bar's name and value.
   *
   * @param name what the legend calls it
   * @param colour its number, as {@link #colour} reads it
   * @param xs positions, ascending; of the same length as {@code ys}
   * @param ys values; NaN leaves a point out
   */
  record Series(String name, int colour, double[] xs, double[] ys) {}

  /** One bar. */
  record Bar(String name, int colour, double value) {}

  /** The colour that belongs to a number, the same everywhere in a report. */
  static String colour(int number) {
    return COLOURS[number % COLOURS.length];
  }

  /** Horizontal bars, one below the other; nothing where all are empty. */
  static void bars(
      StringBuilder html, String title, String unit, List<Bar> bars, String valueFormat) {
    double max = bars.stream().mapToDouble(Bar::value).max().orElse(0);
    if (!(max > 0)) {
      return;
    }
    int row = 34;
    figure(html, title, unit);
    html.append(svg(bars.size() * row + 4));
    for (int i = 0; i < bars.size(); i++) {
      Bar bar = bars.get(i);
      double width = Math.max(1, 330 * bar.value() / max);
      int y = i * row;
      html.append(format("<text x=\"0\" y=\"%d\">%s</text>", y + 11, escape(bar.name())))
          .append(
              format(
                  "<rect x=\"0\" y=\"%d\" width=\"%.1f\" height=\"14\" rx=\"3\" fill=\"%s\"/>",
                  y + 16, width, colour(bar.colour())))
          .append(
              format(
                  "<text x=\"%.1f\" y=\"%d\" class=\"value\">%s</text>",
                  width + 8, y + 28, format(valueFormat, bar.value())));
    }
    html.append("</svg></figure>");
  }

  /**
   * Lines over a common axis that begins at 0; nothing where no value is positive.
   *
   * @param xUnit what stands behind the numbers of the horizontal axis, such as {@code s}
   * @param dots whether each point is marked, as where there are few
   * @param legend whether names stand below
   */
  static void lines(
      StringBuilder html,
      String title,
      String unit,
      String xUnit,
      List<Series> all,
      boolean dots,
      boolean legend) {
    lines(html, title, unit, xUnit, all, new double[0], dots, legend);
  }

  /**
   * The same, with upright lines where something happened.
   *
   * @param marks where, on the horizontal axis
   */
  static void lines(
      StringBuilder html,
      String title,
      String unit,
      String xUnit,
      List<Series> all,
      double[] marks,
      boolean dots,
      boolean legend) {
    double longest = 0;
    double max = 0;
    for (Series series : all) {
      for (int i = 0; i < series.xs().length; i++) {
        longest = Math.max(longest, series.xs()[i]);
        max = Double.isNaN(series.ys()[i]) ? max : Math.max(max, series.ys()[i]);
      }
    }
    if (!(max > 0) || !(longest > 0)) {
      return;
    }
    figure(html, title, unit);
    html.append(svg(190));
    for (int i = 0; i <= 2; i++) {
      double y = BOTTOM - (BOTTOM - TOP) / 2.0 * i;
      html.append(
              format(
                  "<line x1=\"%d\" x2=\"%d\" y1=\"%.0f\" y2=\"%.0f\" class=\"grid\"/>",
                  LEFT, RIGHT, y, y))
          .append(
              format(
                  "<text x=\"%d\" y=\"%.0f\" class=\"axis end\">%s</text>",
                  LEFT - 6, y + 4, number(max * i / 2, max)));
    }
    html.append(format("<text x=\"%d\" y=\"180\" class=\"axis\">0</text>", LEFT))
        .append(
            format(
                "<text x=\"%d\" y=\"180\" class=\"axis end\">%s %s</text>",
                RIGHT, number(longest, longest), escape(xUnit)));
    for (double mark : marks) {
      double x = LEFT + (RIGHT - LEFT) * mark / longest;
      if (x <= RIGHT) {
        html.append(
            format(
                "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" class=\"mark\"/>",
                x, x, TOP, BOTTOM));
      }
    }
    for (Series series : all) {
      line(html, series, longest, max, dots);
    }
    html.append("</svg>");
    if (legend) {
      legend(html, all);
    }
    html.append("</figure>");
  }

  private static void line(
      StringBuilder html, Series series, double longest, double max, boolean dots) {
    StringBuilder points = new StringBuilder();
    StringBuilder marks = new StringBuilder();
    for (int i = 0; i < series.xs().length; i++) {
      double value = series.ys()[i];
      if (Double.isNaN(value)) {
        continue;
      }
      double x = LEFT + (RIGHT - LEFT) * series.xs()[i] / longest;
      double y = BOTTOM - (BOTTOM - TOP) * value / max;
      points.append(format("%.1f,%.1f ", x, y));
      if (dots) {
        marks.append(
            format(
                "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.6\" fill=\"%s\"/>",
                x, y, colour(series.colour())));
      }
    }
    html.append(
            format(
                "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.6\"/>",
                points.toString().trim(), colour(series.colour())))
        .append(marks);
  }

  private static void legend(StringBuilder html, List<Series> all) {
    html.append("<p class=\"legend\">");
    for (Series series : all) {
      html.append("<span><i style=\"background:")
          .append(colour(series.colour()))
          .append("\"></i>")
          .append(escape(series.name()))
          .append("</span>");
    }
    html.append("</p>");
  }

  /** Opens a figure; the caller closes it. */
  static void figure(StringBuilder html, String title, String unit) {
    html.append("<figure><figcaption><b>")
        .append(escape(title))
        .append("</b><br>")
        .append(escape(unit))
        .append("</figcaption>");
  }

  /** Opens a picture of the common width; the caller closes it. */
  static String svg(int height) {
    return format("<svg viewBox=\"0 0 440 %d\" role=\"img\">", height);
  }

  private static String number(double value, double scale) {
    return format(scale < 1 ? "%.2f" : scale < 10 ? "%.1f" : "%.0f", value);
  }

  static String format(String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }

  static String escape(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }
}
