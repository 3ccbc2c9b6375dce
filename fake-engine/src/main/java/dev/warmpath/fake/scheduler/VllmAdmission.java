package dev.warmpath.fake.scheduler;

import dev.warmpath.fake.scheduler.BlockPool.Acquired;
import dev.warmpath.fake.scheduler.BlockPool.Block;
import dev.warmpath.fake.scheduler.Sequence.Place;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Lets queued requests into the running set: destinations whose prompt has arrived first, then the
 * others in order, as long as the head of the queue fits. A smaller one never overtakes it.
 */
final class VllmAdmission {
  private final VllmState state;
  private final CoreOptions options;

  /** Resident leading blocks of the sequence that {@link #fits} looked at last. */
  private int hits;

  /** What would be its next one, if a prefix may be that long. */
  private boolean canExtend;

  private long extension;

  VllmAdmission(VllmState state) {
    this.state = state;
    this.options = state.options;
  }

  /** Admits what fits; returns the budget that is left. */
  void admit(int budget, List<EngineEffect> onStart, List<EngineEffect> onEnd) {
    int left = budget;
    while (hasPlace(left) && !state.arrived.isEmpty()) {
      admitArrived(state.arrived.removeFirst(), onStart);
    }
    if (state.handoffs.hasPending()) {
      return;
    }
    long admittedTokens = 0;
    long reusedTokens = 0;
    while (hasPlace(left) && !state.waiting.isEmpty()) {
      Sequence head = state.waiting.getFirst();
      FinishReason hopeless = hopeless(head);
      if (hopeless != null) {
        state.waiting.removeFirst();
        state.uncountQueued(head);
        state.finish(head, 0, hopeless, onEnd);
        continue;
      }
      if (head.isBlocked() || !fits(head)) {
        break;
      }
      if (swapIn(head, onStart)) {
        continue;
      }
      if (head.isBlocked()) {
        break;
      }
      int reused = hits * options.blockSize();
      int missing = head.length() - reused;
      if (!options.chunkedPrefill() && missing > left) {
        break;
      }
      int tokens = Math.min(missing, left);
      if (!take(head, reused + tokens, onStart)) {
        break;
      }
      boolean first = !head.admitted;
      start(head, reused, tokens, onStart);
      left -= tokens;
      if (first) {
        admittedTokens += head.length();
        reusedTokens += reused;
      }
    }
    if (admittedTokens > 0) {
      state.promptTokens += admittedTokens;
      state.cachedTokens += reusedTokens;
      state.lastPrefillHitRate = (double) reusedTokens / admittedTokens;
    }
  }

  /** Whether there is budget and a place in the running set. */
  boolean hasPlace(int budget) {
    return budget > 0 && state.running.size() < options.maxNumSeqs();
  }

  private void admitArrived(Sequence sequence, List<EngineEffect> onStart) {
    state.run(sequence);
    int reused = sequence.cachedBlocks * options.blockSize();
    sequence.admitted = true;
    sequence.prefilling = false;
    state.promptTokens += sequence.request.promptTokens();
    state.cachedTokens += reused;
    onStart.add(new EngineEffect.Admitted(sequence.id(), reused));
    growForDrafts(sequence, onStart);
  }

  private void start(Sequence head, int reused, int tokens, List<EngineEffect> onStart) {
    state.waiting.removeFirst();
    state.run(head);
    head.prefilling = true;
    head.admitted = true;
    head.published = hits;
    head.passPrefix = reused;
    head.passTokens = tokens;
    head.computed = reused + tokens;
    onStart.add(new EngineEffect.Admitted(head.id(), reused));
    growForDrafts(head, onStart);
    state.publish(head, onStart);
  }

  /** Why a queued request can never run, or null. */
  @Nullable FinishReason hopeless(Sequence head) {
    boolean tooLong = head.length() >= options.maxModelLen();
    boolean tooBig = state.blocksFor(head.length()) > state.pool.capacity();
    if (!tooLong && !tooBig) {
      return null;
    }
    return head.admitted ? FinishReason.COMPLETED : FinishReason.REJECTED;
  }

  /** Whether the head may be admitted now; looks up its cached prefix on the way. */
  boolean fits(Sequence head) {
    hits = reusableBlocks(head);
    if (options.admission() == AdmissionPolicy.GUARANTEED_NO_EVICT) {
      long promised = (long) state.sourceBlocks + wholeSize(head);
      for (Sequence sequence : state.running) {
        promised += wholeSize(sequence);
      }
      return promised <= state.pool.capacity();
    }
    int shared = options.prefixCaching() ? state.pool.heldOfPrefix() : 0;
    int available = state.pool.capacity() - state.pool.active();
    if (options.watermark() > 0 && state.pool.active() > 0) {
      available -= (int) Math.ceil(options.watermark() * state.pool.capacity());
    }
    return state.blocksFor(head.length()) - shared <= available;
  }

  /** Whether a newly resident block makes the prefix longer that {@link #fits} looked at last. */
  boolean extendsPrefix(long hash) {
    return canExtend && hash == extension;
  }

  private int wholeSize(Sequence sequence) {
    return state.blocksFor(sequence.request.promptTokens() + sequence.maxOutput);
  }

  /**
   * Resident leading blocks. A request that generates recomputes at least one token, and with
   * drafts, whose heads need the last hidden states, one more block.
   */
  int reusableBlocks(Sequence sequence) {
    if (!options.prefixCaching()) {
      return 0;
    }
    int length = sequence.length();
    int limit = (sequence.remainingOutput() > 0 ? length - 1 : length) / options.blockSize();
    long[] hashes = sequence.hashes.first(limit);
    int resident = state.pool.residentPrefix(hashes, limit);
    canExtend = resident < limit;
    extension = canExtend ? hashes[resident] : 0;
    if (options.speculation() == null || resident == 0) {
      return resident;
    }
    return state.pool.residentPrefix(hashes, resident - 1);
  }

  /** Sends the head to wait for blocks of lower tiers; false if there are none for it. */
  private boolean swapIn(Sequence head, List<EngineEffect> onStart) {
    OffloadTier lower = state.lower;
    if (lower == null) {
      return false;
    }
    int full = head.length() / options.blockSize();
    long[] hashes = head.hashes.first(full);
    int resident = state.pool.residentPrefix(hashes, full);
    int stored = lower.storedRun(hashes, resident, full);
    if (stored == 0) {
      return false;
    }
    List<Block> blocks = new ArrayList<>();
    Acquired acquired = state.pool.acquire(hashes, resident, stored, blocks, onStart);
    state.noteBlocked(head, acquired);
    if (acquired != Acquired.DONE) {
      return false;
    }
    OffloadTier.SwapIn swapIn = lower.swapIn(head, resident, stored, blocks, onStart);
    if (swapIn == null) {
      return false;
    }
    state.waiting.removeFirst();
    head.swapIn = swapIn;
    head.place = Place.SWAPPING_IN;
    state.swappingIn++;
    return true;
  }

  private boolean take(Sequence head, int tokens, List<EngineEffect> onStart) {
    int fresh = state.blocksFor(tokens) - hits;
    Acquired acquired =
        state.pool.acquire(head.hashes.first(hits), hits, fresh, head.blocks, onStart);
    state.noteBlocked(head, acquired);
    return acquired == Acquired.DONE;
  }

  /** Gives a sequence that will emit room for drafted tokens, or does without them. */
  void growForDrafts(Sequence sequence, List<EngineEffect> effects) {
    int most = state.drafting.most() - 1;
    sequence.drafts = 0;
    if (most == 0 || !sequence.isComputed()) {
      return;
    }
    int drafts = Math.min(most, sequence.remainingOutput() - 1);
    drafts = Math.min(drafts, options.maxModelLen() - sequence.length() - 1);
    if (drafts > 0 && state.grow(sequence, sequence.computed + drafts, effects) == Acquired.DONE) {
      sequence.drafts = drafts;
    }
    sequence.waitsFor = null;
  }
}
