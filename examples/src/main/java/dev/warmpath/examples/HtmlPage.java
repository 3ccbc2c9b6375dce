package dev.warmpath.examples;

import java.util.List;

/**
 * The frame of a self-contained page: no script, no network, readable on a phone and in the dark.
 */
final class HtmlPage {
  private HtmlPage() {}

  /** Begins a page: its head, and its title as heading. */
  static void open(StringBuilder html, String title) {
    html.append("<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">")
        .append("<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">")
        .append("<title>")
        .append(Charts.escape(title))
        .append("</title><style>")
        .append(STYLE)
        .append("</style></head><body><main><h1>")
        .append(Charts.escape(title))
        .append("</h1>");
  }

  /** Ends a page. */
  static void close(StringBuilder html) {
    html.append("</main></body></html>\n");
  }

  /** Begins a table: its titles. */
  static void openTable(StringBuilder html, List<String> titles) {
    html.append("<div class=\"scroll\"><table><thead><tr>");
    titles.forEach(title -> html.append("<th>").append(Charts.escape(title)).append("</th>"));
    html.append("</tr></thead><tbody>");
  }

  /** Adds a row of texts to a table. */
  static void row(StringBuilder html, List<String> cells) {
    html.append("<tr>");
    cells.forEach(text -> html.append("<td>").append(Charts.escape(text)).append("</td>"));
    html.append("</tr>");
  }

  /** Ends a table. */
  static void closeTable(StringBuilder html) {
    html.append("</tbody></table></div>");
  }

  private static final String STYLE =
      """
      :root{color-scheme:light dark;--ink:#1f2937;--soft:#6b7280;--paper:#ffffff;--card:#f8fafc;--line:#e2e8f0}
      @media(prefers-color-scheme:dark){:root{--ink:#e5e7eb;--soft:#9ca3af;--paper:#0f172a;--card:#1e293b;--line:#334155}}
      *{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
      main{max-width:1000px;margin:0 auto;padding:24px 16px 48px}h1{font-size:1.6rem;margin:0 0 4px}
      .lead{font-size:1.1rem;margin:0 0 20px}.note{color:var(--soft);font-size:.85rem;margin-top:28px}
      .scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;font-size:.9rem}
      th,td{padding:7px 10px;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
      th:first-child,td:first-child{text-align:left}thead th,.group{color:var(--soft);font-weight:500}
      h2{font-size:1.2rem;margin:32px 0 8px}.group{padding-top:14px;font-size:.8rem}
      i{display:inline-block;width:10px;height:10px;border-radius:3px;margin-right:7px}
      .charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,420px),1fr));gap:16px;margin-top:24px}
      figure{margin:0;padding:16px;background:var(--card);border:1px solid var(--line);border-radius:10px}
      figcaption{font-size:.85rem;color:var(--soft);margin-bottom:10px}figcaption b{color:var(--ink);font-size:1rem}
      svg{width:100%;height:auto;display:block}svg text{font-size:12px;fill:var(--ink)}
      svg .axis{fill:var(--soft);font-size:11px}svg .end{text-anchor:end}svg .value{fill:var(--soft)}
      svg .grid{stroke:var(--line);stroke-width:1}svg .mark{stroke:var(--soft);stroke-width:1;stroke-dasharray:2 3;opacity:.5}
      .legend{margin:8px 0 0;font-size:.8rem}.legend span{margin-right:14px;white-space:nowrap}
      """;
}
