package dev.warmpath.knowledge;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.knowledge.KvPlaces.Evidence;
import java.time.Duration;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class KvPlacesTest {
  private static final String PIECE = "k";
  private static final long SECOND = 1_000_000_000L;

  private long now = -5 * SECOND;
  private final KvPlaces places = new KvPlaces(Duration.ofSeconds(60), () -> now);

  private void answered(int cachedTokens, long sentNanos) {
    places.answered(1, PIECE, 1_000, OptionalInt.of(cachedTokens), false, sentNanos);
  }

  @Test
  void whatWasPutOnOneRankIsThereAloneAndForAWhile() {
    places.put(1, PIECE);

    assertThat(places.seen(1, PIECE)).isEqualTo(Evidence.HELD);
    assertThat(places.seen(1, "l")).isNull();
    assertThat(places.seen(2, PIECE)).isNull();
    now += 59 * SECOND;
    assertThat(places.seen(1, PIECE)).isEqualTo(Evidence.HELD);
    now += SECOND;
    assertThat(places.seen(1, PIECE)).isNull();
  }

  @Test
  void answersShowWhatIsThere() {
    answered(900, now);
    assertThat(places.seen(1, PIECE)).isEqualTo(Evidence.HELD);
    now += 50 * SECOND;
    answered(500, now); // half of what is an estimate
    now += 50 * SECOND;
    assertThat(places.seen(1, PIECE)).isEqualTo(Evidence.HELD);

    answered(499, now);

    assertThat(places.seen(1, PIECE)).isEqualTo(Evidence.LACKING);
    places.put(1, PIECE);
    assertThat(places.seen(1, PIECE)).isEqualTo(Evidence.HELD);
  }

  @Test
  void whoWasSentBeforeItWasPutThereSaysNothingOfIt() {
    long sent = now;
    now += SECOND;
    places.put(1, PIECE);
    now += SECOND;

    answered(0, sent);

    assertThat(places.seen(1, PIECE)).isEqualTo(Evidence.HELD);
    answered(0, now);
    assertThat(places.seen(1, PIECE)).isEqualTo(Evidence.LACKING);
  }

  @Test
  void whatIsNotFoundRightAfterItWasPutThereIsOfNoUse() {
    places.put(1, PIECE);
    places.answered(1, PIECE, 1_000, OptionalInt.of(0), true, now);

    assertThat(places.seen(1, PIECE)).isEqualTo(Evidence.USELESS);
    answered(0, now);
    assertThat(places.seen(1, PIECE)).isEqualTo(Evidence.USELESS);
    answered(1_000, now); // it computed it itself
    assertThat(places.seen(1, PIECE)).isEqualTo(Evidence.HELD);
  }

  @Test
  void anAnswerThatDoesNotTellShowsNothing() {
    places.put(1, PIECE);

    places.answered(1, PIECE, 1_000, OptionalInt.empty(), false, now);
    places.answered(2, PIECE, 1_000, OptionalInt.empty(), false, now);

    assertThat(places.seen(1, PIECE)).isEqualTo(Evidence.HELD);
    assertThat(places.seen(2, PIECE)).isNull();
  }

  @Test
  void anEmptiedCacheHasNothing() {
    places.put(1, PIECE);
    places.put(2, PIECE);

    places.emptied(1);

    assertThat(places.seen(1, PIECE)).isNull();
    assertThat(places.seen(2, PIECE)).isEqualTo(Evidence.HELD);
  }

  @Test
  void itIsBounded() {
    for (int i = 0; i < 70_000; i++) {
      places.put(1, Integer.toString(i));
    }

    int kept = 0;
    for (int i = 0; i < 70_000; i++) {
      kept += places.seen(1, Integer.toString(i)) == null ? 0 : 1;
    }
    assertThat(kept).isBetween(1, 65_536);
  }

  @Test
  void withoutMemoryNothingIsSeen() {
    KvPlaces none = new KvPlaces(Duration.ZERO, () -> now);
    none.put(1, PIECE);
    none.answered(1, PIECE, 1_000, OptionalInt.of(1_000), false, now);
    none.emptied(1);

    assertThat(none.seen(1, PIECE)).isNull();
  }
}
