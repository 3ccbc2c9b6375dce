package dev.warmpath.examples;

import java.util.ArrayList;
import java.util.List;

/** Rows of text in aligned columns: numbers to the right, the rest to the left. */
final class TextTable {
  private final List<String[]> rows = new ArrayList<>();

  TextTable(String... titles) {
    rows.add(titles);
  }

  void row(String... cells) {
    rows.add(cells);
  }

  @Override
  public String toString() {
    int columns = rows.get(0).length;
    int[] widths = new int[columns];
    boolean[] numeric = new boolean[columns];
    java.util.Arrays.fill(numeric, true);
    for (int r = 0; r < rows.size(); r++) {
      for (int c = 0; c < columns; c++) {
        String cell = rows.get(r)[c];
        widths[c] = Math.max(widths[c], cell.length());
        numeric[c] &= r == 0 || cell.matches("-|[0-9.]+( ms|%)?");
      }
    }
    StringBuilder out = new StringBuilder();
    for (String[] row : rows) {
      StringBuilder line = new StringBuilder();
      for (int c = 0; c < columns; c++) {
        String pad = " ".repeat(widths[c] - row[c].length());
        line.append(c == 0 ? "" : "  ").append(numeric[c] ? pad + row[c] : row[c] + pad);
      }
      out.append(line.toString().stripTrailing()).append(System.lineSeparator());
    }
    return out.toString();
  }
}
