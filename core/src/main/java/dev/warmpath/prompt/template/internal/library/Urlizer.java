package dev.warmpath.prompt.template.internal.library;

import dev.warmpath.prompt.template.internal.python.Markup;
import dev.warmpath.prompt.template.internal.python.Numbers;
import dev.warmpath.prompt.template.internal.python.Py;
import dev.warmpath.prompt.template.internal.python.PyError;
import dev.warmpath.prompt.template.internal.python.PyNone;
import dev.warmpath.prompt.template.internal.python.Rendering;
import dev.warmpath.prompt.template.internal.python.Repr;
import dev.warmpath.prompt.template.internal.python.Text;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The filter {@code urlize}: addresses in a text become links. */
final class Urlizer {
  /** Longer words are no addresses; matching them could take long. */
  private static final int MAX_WORD = 4096;

  private static final String W = "[\\p{L}\\p{N}_";

  private static final Pattern WEB =
      Pattern.compile(
          "^((https?://|www\\.)((W%-]+\\.)+)?([a-z]{2,63}|xn--W%]{2,59})".replace("W", W)
              + "|(W%-]{2,63}\\.)+(com|net|int|edu|gov|org|info|mil)".replace("W", W)
              + "|(https?://)((([\\d]{1,3})(\\.[\\d]{1,3}){3})|(\\[([\\da-f]{0,4}:){2}([\\da-f]{0,4}:?){1,6}])))"
              + "(?::[\\d]{1,5})?(?:[/?#]\\S*)?$",
          Pattern.CASE_INSENSITIVE);
  private static final Pattern EMAIL = Pattern.compile("^\\S+@W]W.-]*\\.W]+$".replace("W", W));
  private static final Pattern SCHEME = Pattern.compile("([\\p{L}\\p{N}_.+-]{2,}:(/){0,2})");
  private static final Pattern OPENING = Pattern.compile("^(?:[(<]|&lt;)+");
  private static final Pattern CLOSING = Pattern.compile("(?:[)>.,\\n]|&gt;)+$");
  private static final String[][] BRACKETS = {{"(", ")"}, {"<", ">"}, {"&lt;", "&gt;"}};

  private final int trimLimit;
  private final String attributes;
  private final List<String> schemes;

  private Urlizer(int trimLimit, String attributes, List<String> schemes) {
    this.trimLimit = trimLimit;
    this.attributes = attributes;
    this.schemes = schemes;
  }

  static Object urlize(Rendering r, Object[] v) {
    TreeSet<String> rel = new TreeSet<>();
    rel.add("noopener");
    if (Py.isTrue(r, v[2])) {
      rel.add("nofollow");
    }
    if (Py.isTrue(r, v[4])) {
      for (String word : Text.strip(Py.str(r, v[4])).split("\\s+", -1)) {
        rel.add(word);
      }
    }
    String attributes = " rel=\"" + Markup.escapeText(r, String.join(" ", rel)) + "\"";
    if (Py.isTrue(r, v[3])) {
      attributes += " target=\"" + Markup.escape(r, v[3]).text() + "\"";
    }
    List<String> schemes = new ArrayList<>();
    if (v[5] != PyNone.NONE) {
      for (Object scheme : Py.list(r, v[5])) {
        if (!Py.isString(scheme) || !SCHEME.matcher(Py.text(scheme)).matches()) {
          throw PyError.filterArgument(Repr.of(r, scheme) + " is not a valid URI scheme prefix.");
        }
        schemes.add(Py.text(scheme));
      }
    }
    int limit = v[1] == PyNone.NONE ? Integer.MAX_VALUE : Numbers.size(v[1]);
    String text = Markup.escape(r, v[0]).text();
    String linked = new Urlizer(limit, attributes, schemes).text(r, text);
    return r.autoescape() ? new Markup(linked) : linked;
  }

  private String text(Rendering r, String text) {
    StringBuilder out = new StringBuilder(text.length() + 64);
    int at = 0;
    while (at < text.length()) {
      int from = at;
      boolean space = Text.isSpace(text.charAt(at));
      while (at < text.length() && Text.isSpace(text.charAt(at)) == space) {
        at++;
      }
      String word = text.substring(from, at);
      r.charge(word.length() + 1L);
      out.append(space || word.length() > MAX_WORD ? word : word(word));
    }
    r.chargeChars(out.length());
    return out.toString();
  }

  private String word(String word) {
    Matcher opening = OPENING.matcher(word);
    String head = opening.find() ? opening.group() : "";
    String middle = word.substring(head.length());
    Matcher closing = CLOSING.matcher(middle);
    String tail = "";
    if (closing.find()) {
      tail = closing.group();
      middle = middle.substring(0, closing.start());
    }
    for (String[] pair : BRACKETS) {
      int open = count(middle, pair[0]);
      if (open <= count(middle, pair[1])) {
        continue;
      }
      for (int i = Math.min(open, count(tail, pair[1])); i > 0; i--) {
        int end = tail.indexOf(pair[1]) + pair[1].length();
        middle += tail.substring(0, end);
        tail = tail.substring(end);
      }
    }
    return head + link(middle) + tail;
  }

  private static int count(String s, String part) {
    int count = 0;
    for (int i = s.indexOf(part); i >= 0; i = s.indexOf(part, i + part.length())) {
      count++;
    }
    return count;
  }

  private String link(String s) {
    if (WEB.matcher(s).find()) {
      String address = s.startsWith("https://") || s.startsWith("http://") ? s : "https://" + s;
      return "<a href=\"" + address + "\"" + attributes + ">" + trimmed(s) + "</a>";
    }
    if (s.startsWith("mailto:") && EMAIL.matcher(s.substring(7)).find()) {
      return "<a href=\"" + s + "\">" + s.substring(7) + "</a>";
    }
    if (s.indexOf('@') > 0
        && !s.startsWith("www.")
        && s.indexOf(':') < 0
        && EMAIL.matcher(s).find()) {
      return "<a href=\"mailto:" + s + "\">" + s + "</a>";
    }
    String linked = s;
    for (String scheme : schemes) {
      if (!linked.equals(scheme) && linked.startsWith(scheme)) {
        linked = "<a href=\"" + linked + "\"" + attributes + ">" + linked + "</a>";
      }
    }
    return linked;
  }

  private String trimmed(String s) {
    return Text.length(s) > trimLimit ? Text.substring(s, 0, Math.max(trimLimit, 0)) + "..." : s;
  }
}
