package dev.warmpath.pd;

import dev.warmpath.pd.PdAction.Word;
import dev.warmpath.pd.PdFailure.Phase;
import dev.warmpath.pd.PdVerdict.Blame;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a session's caller is told: that it may have decode's first payload, and one last word after
 * which there is none. Remembers what went wrong meanwhile, which other attempts may make good.
 * Used by one thread at a time.
 */
final class PdReport {
  private final PdLegs legs;
  private final List<PdAction> out;
  private boolean released;
  private boolean over;
  private @Nullable PdFailure failure;

  /**
   * Has told nothing.
   *
   * @param legs whose outcomes failures name
   * @param out receives what is told
   */
  PdReport(PdLegs legs, List<PdAction> out) {
    this.legs = legs;
    this.out = out;
  }

  /** Whether the caller has had a payload: nothing may be sent again then. */
  boolean released() {
    return released;
  }

  /** Whether the caller has had its last word. */
  boolean over() {
    return over;
  }

  /** The caller may have decode's first payload. */
  void release() {
    released = true;
    out.add(new PdAction.Tell(Word.RELEASED, null));
  }

  /** The last word; nothing where it was said before. */
  void last(Word word, @Nullable PdFailure why) {
    if (!over) {
      over = true;
      out.add(new PdAction.Tell(word, why));
    }
  }

  /** The last word of a session that failed: a refusal where the request itself is to blame. */
  void lastFailure(PdFailure why) {
    last(why.verdict().blame() == Blame.CALLER ? Word.REFUSED : Word.FAILED, why);
  }

  /** A failure as the legs are now. */
  PdFailure failure(Phase phase, PdVerdict found, int status, String error) {
    return new PdFailure(
        phase, found, legs.prefill().outcome(), legs.decode().outcome(), status, released, error);
  }

  /** A failure that is remembered in place of an earlier one. */
  PdFailure failed(Phase phase, PdVerdict found, int status, String error) {
    PdFailure made = failure(phase, found, status, error);
    failure = made;
    return made;
  }

  /** What went wrong last; null for nothing. */
  @Nullable PdFailure failure() {
    return failure;
  }
}
