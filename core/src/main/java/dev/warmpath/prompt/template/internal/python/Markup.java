package dev.warmpath.prompt.template.internal.python;

/**
 * Text marked as safe for HTML: MarkupSafe's {@code Markup}, a subclass of {@code str}.
 *
 * @param text the text
 */
public record Markup(String text) {
  @Override
  public String toString() {
    return text;
  }

  /** Escapes {@code & < > ' "} unless the value is safe already. */
  public static Markup escape(Rendering r, Object value) {
    if (value instanceof Markup m) {
      return m;
    }
    return new Markup(escapeText(r, Py.str(r, value)));
  }

  /** Escapes {@code & < > ' "}. */
  public static String escapeText(Rendering r, String s) {
    StringBuilder sb = null;
    for (int i = 0; i < s.length(); i++) {
      String replacement =
          switch (s.charAt(i)) {
            case '&' -> "&amp;";
            case '<' -> "&lt;";
            case '>' -> "&gt;";
            case '\'' -> "&#39;";
            case '"' -> "&#34;";
            default -> "";
          };
      if (replacement.isEmpty()) {
        if (sb != null) {
          sb.append(s.charAt(i));
        }
      } else {
        if (sb == null) {
          sb = new StringBuilder(s.length() + 16).append(s, 0, i);
        }
        sb.append(replacement);
      }
    }
    if (sb == null) {
      return s;
    }
    r.chargeChars(sb.length());
    return sb.toString();
  }
}
