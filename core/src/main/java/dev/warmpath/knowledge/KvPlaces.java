package dev.warmpath.knowledge;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.time.Duration;
import java.util.OptionalInt;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Where the KV of pieces is or isn't, by what was put there lately and by what engines' answers
 * showed since: both are of one piece on one rank, where predictions of prompts are guesses. A rank
 * that restarted or came back has a holder id of its own, so that nothing is thought of it.
 * Bounded; thread safe.
 */
final class KvPlaces {
  private static final int MAX_PLACES = 65_536;

  /** The part of a piece that has to be found for it to be there: its tokens are an estimate. */
  private static final double FOUND = 0.5;

  private final LongSupplier ticker;
  private final @Nullable Cache<Place, Seen> places;

  /** A piece on a rank. */
  private record Place(long holder, String piece) {}

  /** What was seen of a place. */
  enum Evidence {
    /** It is there. */
    HELD,
    /** It isn't there. */
    LACKING,
    /** It was put there, and the engine didn't find it: doing so again would be of no use. */
    USELESS
  }

  private record Seen(Evidence evidence, long atNanos) {}

  /**
   * Remembers nothing yet.
   *
   * @param memory for how long what was seen counts; zero for not at all
   */
  KvPlaces(Duration memory, LongSupplier ticker) {
    this.ticker = ticker;
    this.places =
        memory.isZero()
            ? null
            : Caffeine.newBuilder()
                .maximumSize(MAX_PLACES)
                .expireAfterWrite(memory)
                .ticker(ticker::getAsLong)
                .executor(Runnable::run)
                .build();
  }

  /** What was seen of a piece on a rank lately; null for nothing. */
  @Nullable Evidence seen(long holder, String piece) {
    Seen seen = places == null ? null : places.getIfPresent(new Place(holder, piece));
    return seen == null ? null : seen.evidence();
  }

  /** A piece's KV was put in place. */
  void put(long holder, String piece) {
    see(new Place(holder, piece), Evidence.HELD);
  }

  /**
   * A rank has answered a prompt that began with a piece.
   *
   * @param tokens about how many tokens of the prompt are the piece's
   * @param cachedTokens how many of the prompt's were in the cache; empty where that isn't told
   * @param put whether its KV was put there for this prompt
   * @param sentNanos when the prompt was sent: what was put there since, it couldn't find
   */
  void answered(
      long holder,
      String piece,
      long tokens,
      OptionalInt cachedTokens,
      boolean put,
      long sentNanos) {
    if (places == null || cachedTokens.isEmpty()) {
      return;
    }
    Place place = new Place(holder, piece);
    Seen seen = places.getIfPresent(place);
    if (cachedTokens.getAsInt() >= FOUND * tokens) {
      see(place, Evidence.HELD);
    } else if (put) {
      see(place, Evidence.USELESS);
    } else if (seen == null
        || (seen.evidence() == Evidence.HELD && seen.atNanos() - sentNanos <= 0)) {
      see(place, Evidence.LACKING);
    }
  }

  private void see(Place place, Evidence evidence) {
    if (places != null) {
      places.put(place, new Seen(evidence, ticker.getAsLong()));
    }
  }

  /** A rank's cache was emptied. */
  void emptied(long holder) {
    if (places != null) {
      boolean unused = places.asMap().keySet().removeIf(place -> place.holder() == holder);
    }
  }
}
