package dev.warmpath.okhttp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.api.StreamEvent;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import okio.Buffer;
import okio.ByteString;
import okio.Okio;
import okio.Source;
import okio.Timeout;
import org.junit.jupiter.api.Test;

class SseReaderTest {
  /** Gives its bytes in pieces of the given sizes, as a network does; the last size repeats. */
  private static final class Pieces implements Source {
    private final Buffer rest = new Buffer();
    private final int[] sizes;
    private int reads;

    Pieces(ByteString bytes, int... sizes) {
      rest.write(bytes);
      this.sizes = sizes;
    }

    @Override
    public long read(Buffer sink, long byteCount) {
      if (rest.exhausted()) {
        return -1;
      }
      int size = sizes[Math.min(reads++, sizes.length - 1)];
      return rest.read(sink, Math.min(byteCount, size));
    }

    @Override
    public Timeout timeout() {
      return Timeout.NONE;
    }

    @Override
    public void close() {}
  }

  private static List<StreamEvent> read(ByteString bytes, int... sizes) throws IOException {
    SseReader reader = new SseReader(Okio.buffer(new Pieces(bytes, sizes)));
    List<StreamEvent> events = new ArrayList<>();
    for (StreamEvent event = reader.next(); event != null; event = reader.next()) {
      events.add(event);
    }
    assertThat(reader.next()).isNull();
    return events;
  }

  private static List<StreamEvent> read(String text) throws IOException {
    return read(ByteString.encodeUtf8(text), Integer.MAX_VALUE);
  }

  private static StreamEvent data(String data) {
    return new StreamEvent(null, data);
  }

  @Test
  void linesEndInAnyOfThreeWays() throws IOException {
    for (String end : List.of("\n", "\r", "\r\n")) {
      assertThat(read("data: a" + end + end + "data: b" + end + end))
          .containsExactly(data("a"), data("b"));
    }
    assertThat(read("data: a\r\n\rdata: b\n\r\ndata: c\r\r")).hasSize(3);
  }

  @Test
  void anEventThatEndsInCrNeedsNoByteAfterIt() throws IOException {
    // The source fails on any read beyond the event: waiting for it would hold the event back.
    Source source =
        new Source() {
          private boolean read;

          @Override
          public long read(Buffer sink, long byteCount) throws IOException {
            if (read) {
              throw new IOException("read on");
            }
            read = true;
            sink.writeUtf8("data: a\r\r");
            return 9;
          }

          @Override
          public Timeout timeout() {
            return Timeout.NONE;
          }

          @Override
          public void close() {}
        };
    SseReader reader = new SseReader(Okio.buffer(source));
    assertThat(reader.next()).isEqualTo(data("a"));
    assertThatThrownBy(reader::next).hasMessage("read on");
  }

  @Test
  void commentsAndUnknownFieldsAreReadOver() throws IOException {
    assertThat(read(": ping\n\n:\nid: 7\nretry: 10\nother\ndata: a\n: b\n\n"))
        .containsExactly(data("a"));
  }

  @Test
  void severalDataLinesJoin() throws IOException {
    assertThat(read("data: a\ndata:b\ndata\ndata:  c\n\n")).containsExactly(data("a\nb\n\n c"));
  }

  @Test
  void oneLeadingByteOrderMarkIsDropped() throws IOException {
    assertThat(read("\uFEFFdata: a\n\n\uFEFFdata: b\n\n")).containsExactly(data("a"));
    assertThat(read("\uFEFF")).isEmpty();
  }

  @Test
  void eventNamesBelongToOneEvent() throws IOException {
    assertThat(read("event: x\n\nevent: y\ndata: a\n\ndata: b\n\nevent:\ndata: c\n\n"))
        .containsExactly(new StreamEvent("y", "a"), data("b"), data("c"));
  }

  @Test
  void anEmptyDataLineIsAnEvent() throws IOException {
    assertThat(read("data:\n\n")).containsExactly(data(""));
  }

  @Test
  void whatTheEndCutsShortIsDropped() throws IOException {
    assertThat(read("data: a\n\ndata: b\n")).containsExactly(data("a"));
    assertThat(read("data: a\n\ndata: b")).containsExactly(data("a"));
    assertThat(read("")).isEmpty();
  }

  @Test
  void charactersSplitBetweenReadsStayWhole() throws IOException {
    String text = "é漢字🚀";
    ByteString bytes = ByteString.encodeUtf8("data: " + text + "\n\n");
    for (int at = 1; at < bytes.size(); at++) {
      assertThat(read(bytes, at, Integer.MAX_VALUE)).containsExactly(data(text));
    }
    assertThat(read(bytes, 1)).containsExactly(data(text));
  }

  @Test
  void longLinesPassAndEndlessOnesDoNot() throws IOException {
    String megabytes = "x".repeat(8 << 20);
    assertThat(read("data: " + megabytes + "\n\n")).containsExactly(data(megabytes));
    Source endless =
        new Source() {
          private final ByteString piece = ByteString.of(new byte[1 << 20]);

          @Override
          public long read(Buffer sink, long byteCount) {
            sink.write(piece);
            return piece.size();
          }

          @Override
          public Timeout timeout() {
            return Timeout.NONE;
          }

          @Override
          public void close() {}
        };
    assertThatThrownBy(new SseReader(Okio.buffer(endless))::next)
        .isInstanceOf(IOException.class)
        .hasMessageContaining("longer than");
  }

  /** Streams as engines write them, every line end its own, and what must come out. */
  record Written(String text, List<StreamEvent> events) {}

  @Provide
  Arbitrary<Written> streams() {
    Arbitrary<String> texts =
        Arbitraries.strings()
            .withChars("ab:{}\" é漢")
            .withChars('\uFEFF', '\u2028', '\u0085')
            .ofMaxLength(12)
            .map(text -> text.replaceAll("^ +", ""));
    Arbitrary<Boolean> bom = Arbitraries.of(true, false);
    return Combinators.combine(
            texts.list().ofMinSize(1).ofMaxSize(3).list().ofMaxSize(6), Arbitraries.longs(), bom)
        .as((events, seed, marked) -> write(events, new Random(seed), marked));
  }

  private static Written write(List<List<String>> events, Random random, boolean marked) {
    StringBuilder text = new StringBuilder(marked ? "\uFEFF" : "");
    List<StreamEvent> expected = new ArrayList<>();
    for (List<String> lines : events) {
      if (random.nextBoolean()) {
        text.append(": comment").append(end(random));
      }
      String name = random.nextInt(3) == 0 ? "named" : null;
      if (name != null) {
        text.append("event: named").append(end(random));
      }
      for (String line : lines) {
        text.append(random.nextBoolean() ? "data: " : "data:").append(line).append(end(random));
      }
      // A lone CR before an LF would make one line end of two.
      text.append(text.charAt(text.length() - 1) == '\r' ? "\r" : end(random));
      expected.add(new StreamEvent(name, String.join("\n", lines)));
    }
    return new Written(text.toString(), expected);
  }

  private static String end(Random random) {
    return List.of("\n", "\r", "\r\n").get(random.nextInt(3));
  }

  @Property(seed = "51")
  void bytesSplitAnywhereGiveTheSameEvents(@ForAll("streams") Written written, @ForAll long seed)
      throws IOException {
    ByteString bytes = ByteString.encodeUtf8(written.text());
    assertThat(read(bytes, Integer.MAX_VALUE)).isEqualTo(written.events());
    Random random = new Random(seed);
    int[] sizes = random.ints(bytes.size() + 1, 1, 5).toArray();
    assertThat(read(bytes, sizes)).isEqualTo(written.events());
    assertThat(read(bytes, 1)).isEqualTo(written.events());
  }
}
