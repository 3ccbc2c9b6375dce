package dev.warmpath.prompt.template.internal.library;

import dev.warmpath.prompt.template.internal.python.Markup;
import dev.warmpath.prompt.template.internal.python.Numbers;
import dev.warmpath.prompt.template.internal.python.Py;
import dev.warmpath.prompt.template.internal.python.PyError;
import dev.warmpath.prompt.template.internal.python.Rendering;
import dev.warmpath.prompt.template.internal.python.Text;
import java.util.SplittableRandom;

/** The global function {@code lipsum}: paragraphs of placeholder text by chance. */
final class LoremIpsum {
  static final Function FUNCTION =
      Function.python(
          "generate_lorem_ipsum", 0, "n=5, html=True, min=20, max=100", LoremIpsum::generate);

  private static final String[] WORDS =
      ("a ac accumsan ad aliquam aliquet amet ante arcu at auctor augue bibendum blandit class"
              + " commodo congue consectetuer consequat conubia convallis cras cubilia cum curae"
              + " cursus dapibus diam dictum dignissim dis dolor donec dui egestas eget eleifend elit"
              + " enim erat eros est et etiam eu facilisi fames faucibus felis fermentum feugiat"
              + " fringilla fusce gravida hac hendrerit iaculis id imperdiet in inceptos integer ipsum"
              + " justo lacinia lacus laoreet lectus leo libero ligula lorem luctus maecenas magna"
              + " malesuada massa mattis mauris metus mi molestie mollis montes morbi mus nam nascetur"
              + " nec neque netus nibh nisi nisl non nulla nunc odio orci ornare parturient pede per"
              + " pharetra placerat platea porta posuere potenti praesent pretium primis proin purus"
              + " quam quis quisque rhoncus risus rutrum sagittis sapien sed sem semper senectus sit"
              + " sociis sodales suscipit tellus tempor tempus tincidunt torquent tortor tristique"
              + " turpis ultrices urna ut varius vel velit venenatis vestibulum vitae viverra"
              + " volutpat")
          .split(" ", -1);

  private LoremIpsum() {}

  private static Object generate(Rendering r, Object[] v) {
    int paragraphs = Numbers.size(v[0]);
    boolean html = Py.isTrue(r, v[1]);
    int least = Numbers.size(v[2]);
    int most = Numbers.size(v[3]);
    if (least >= most) {
      throw PyError.value(
          "empty range for randrange() ("
              + least
              + ", "
              + most
              + ", "
              + ((long) most - least)
              + ")");
    }
    StringBuilder out = new StringBuilder();
    for (int i = 0; i < paragraphs; i++) {
      out.append(i == 0 ? "" : html ? "\n" : "\n\n").append(html ? "<p>" : "");
      paragraph(r, r.random().nextInt(least, most), out);
      out.append(html ? "</p>" : "");
    }
    r.chargeChars(out.length());
    return html ? new Markup(out.toString()) : out.toString();
  }

  private static void paragraph(Rendering r, int words, StringBuilder out) {
    SplittableRandom random = r.random();
    boolean capital = true;
    int untilComma = 3 + random.nextInt(5);
    int untilStop = 10 + random.nextInt(10);
    for (int i = 0; i < words; i++) {
      r.charge(2);
      String word = WORDS[random.nextInt(WORDS.length)];
      out.append(i == 0 ? "" : " ").append(capital ? Text.capitalize(word) : word);
      capital = false;
      if (i == words - 1 || --untilStop <= 0) {
        out.append('.');
        capital = true;
        untilStop = 10 + random.nextInt(10);
        untilComma = 3 + random.nextInt(5);
      } else if (--untilComma <= 0) {
        out.append(',');
        untilComma = 3 + random.nextInt(5);
      }
    }
  }
}
