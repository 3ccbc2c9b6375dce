package dev.warmpath;

import dev.warmpath.api.AttemptRecord;
import dev.warmpath.api.RouteDecision;
import dev.warmpath.api.RouteDecision.CandidateView;
import dev.warmpath.api.RouterListener;
import dev.warmpath.api.Usage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The last requests that ended, in a ring of fixed size: where they went and what came of it, never
 * what they said. Lock-free; where many end at once, one may be missing from a look.
 */
final class DecisionLog implements RouterListener {
  private final AtomicReferenceArray<@Nullable Entry> ring;
  private final AtomicLong next = new AtomicLong();
  private final LongSupplier ticker;

  private record Entry(long endedNanos, RequestEvent event) {}

  DecisionLog(int size, LongSupplier ticker) {
    this.ring = new AtomicReferenceArray<>(size);
    this.ticker = ticker;
  }

  @Override
  public void onFinished(RequestEvent event) {
    if (ring.length() > 0) {
      int at = (int) (next.getAndIncrement() % ring.length());
      ring.set(at, new Entry(ticker.getAsLong(), event));
    }
  }

  /** The newest first. */
  List<RouterStatus.Decision> last() {
    long now = ticker.getAsLong();
    long end = next.get();
    List<RouterStatus.Decision> last = new ArrayList<>();
    for (long i = end - 1; i >= Math.max(0, end - ring.length()); i--) {
      Entry entry = ring.get((int) (i % ring.length()));
      if (entry != null) {
        last.add(decision(entry.event(), Duration.ofNanos(now - entry.endedNanos())));
      }
    }
    return last;
  }

  private static RouterStatus.Decision decision(RequestEvent event, Duration age) {
    RouteDecision decision = event.decision();
    CandidateView chosen = decision.chosen();
    Usage usage = event.usage();
    List<AttemptRecord> attempts = decision.attempts();
    Outcome outcome = event.outcome();
    return new RouterStatus.Decision(
        event.requestId(),
        age,
        decision.policy(),
        decision.topologyVersion(),
        chosen == null ? null : chosen.worker(),
        chosen == null ? null : chosen.rank(),
        chosen == null ? null : chosen.step(),
        decision.prompt().tokens(),
        chosen == null ? 0 : chosen.matchedTokens(),
        usage == null ? null : usage.cachedTokens(),
        attempts.size(),
        outcome == null ? "unknown" : outcome.name().toLowerCase(Locale.ROOT),
        event.elapsed());
  }
}
