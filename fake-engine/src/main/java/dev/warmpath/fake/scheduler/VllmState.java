package dev.warmpath.fake.scheduler;

import dev.warmpath.fake.scheduler.BlockPool.Acquired;
import dev.warmpath.fake.scheduler.HandoffRegistry.Source;
import dev.warmpath.fake.scheduler.Sequence.Place;
import dev.warmpath.worker.WorkerRole;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link VllmCore} keeps between passes: its queues, its blocks and its counters, and the
 * moves between them that every part of it uses.
 */
final class VllmState {
  final CoreOptions options;
  final LatencyModel latency;
  final BlockPool pool;
  final @Nullable OffloadTier lower;
  final HandoffRegistry<Sequence> handoffs = new HandoffRegistry<>();
  final PassMeter meter = new PassMeter();
  final DraftAcceptance drafting;

  /** Every live request, wherever it is. */
  final Map<Long, Sequence> known = new HashMap<>();

  final List<Sequence> running = new ArrayList<>();

  /** Activated destinations, whose prompt needs no computing. */
  final ArrayDeque<Sequence> arrived = new ArrayDeque<>();

  final ArrayDeque<Sequence> waiting = new ArrayDeque<>();

  /** Submitted during a pause that only lets earlier ones finish. */
  final ArrayDeque<Sequence> held = new ArrayDeque<>();

  /** Sequences whose blocks are being brought back. */
  int swappingIn;

  /** Blocks of held sources. */
  int sourceBlocks;

  /** Preempted sequences that have not been admitted again. */
  int preempted;

  @Nullable PauseMode pause;
  long preemptions;
  long promptTokens;
  long cachedTokens;
  long generatedTokens;
  double lastPrefillHitRate;

  VllmState(CoreOptions options, LatencyModel latency) {
    this.options = options;
    this.drafting = DraftAcceptance.of(options);
    this.latency = latency.forRole(options.role());
    this.pool = new BlockPool(options.numBlocks(), reportsCache());
    OffloadOptions offload = options.offload();
    this.lower =
        offload == null || options.offloadProblem() != null
            ? null
            : new OffloadTier(
                pool,
                offload,
                (double) options.transfer().bytesPerToken() * options.blockSize(),
                reportsCache());
  }

  boolean reportsCache() {
    return options.cacheEvents() && options.prefixCaching() && options.role() != WorkerRole.DECODE;
  }

  int blocksFor(int tokens) {
    return (int) (((long) tokens + options.blockSize() - 1) / options.blockSize());
  }

  Sequence newSequence(EngineRequest request) {
    int output = request.outputTokens();
    if (options.admission() == AdmissionPolicy.GUARANTEED_NO_EVICT) {
      long room = (long) options.numBlocks() * options.blockSize() - request.promptTokens();
      output = (int) Math.max(0, Math.min(output, room));
    }
    return new Sequence(request, options.blockSize(), output);
  }

  /**
   * Refuses a request id that is in use.
   *
   * @throws IllegalArgumentException if it is
   */
  void requireUnknown(long requestId) {
    if (known.containsKey(requestId)) {
      throw new IllegalArgumentException(
          "request id " + requestId + " is in use; give each live request its own");
    }
  }

  /** Counts a sequence among the queued ones, of which kind it is by now. */
  void countQueued(Sequence sequence, boolean decode) {
    sequence.queuedAsDecode = decode;
    (decode ? meter.queuedDecode : meter.queuedPrefill).add(sequence.length());
  }

  /** Ends {@link #countQueued}. */
  void uncountQueued(Sequence sequence) {
    if (sequence.preempted) {
      sequence.preempted = false;
      preempted--;
    }
    (sequence.queuedAsDecode ? meter.queuedDecode : meter.queuedPrefill).remove(sequence.length());
  }

  /** Puts a sequence that is in no queue at the head of the waiting ones. */
  void enqueueFirst(Sequence sequence) {
    sequence.place = Place.QUEUED;
    waiting.addFirst(sequence);
    countQueued(sequence, sequence.admitted);
  }

  /** Moves a sequence that has been taken out of its queue to the running set. */
  void run(Sequence sequence) {
    uncountQueued(sequence);
    sequence.place = Place.RUNNING;
    running.add(sequence);
  }

  /** Takes the blocks of a running sequence, which has been removed from there, and requeues it. */
  EngineEffect requeue(Sequence sequence) {
    release(sequence);
    sequence.reset();
    sequence.preempted = true;
    preempted++;
    enqueueFirst(sequence);
    return new EngineEffect.Preempted(sequence.id());
  }

  void release(Sequence sequence) {
    pool.release(sequence.blocks);
    handoffs.capacityFreed();
  }

  /** Makes a sequence that is in no queue any more unknown. */
  void forget(Sequence sequence) {
    release(sequence);
    known.remove(sequence.id());
    handoffs.removeSourceOf(sequence.id());
    handoffs.removeDestinationOf(sequence.id());
  }

  /** Ends a sequence that is in no queue any more and says so. */
  void finish(Sequence sequence, int tokens, FinishReason reason, List<EngineEffect> effects) {
    effects.add(new EngineEffect.Output(sequence.id(), tokens, reason));
    if (reason == FinishReason.COMPLETED) {
      Source<Sequence> source = handoffs.hold(sequence.id(), sequence);
      if (source != null) {
        sequence.place = Place.SOURCE;
        sourceBlocks += sequence.blocks.size();
        handoffs.removeDestinationOf(sequence.id());
        handoffs.capacityFreed();
        effects.add(
            new EngineEffect.SourceHeld(
                source.handoffId(),
                sequence.id(),
                options.transfer().delayMs(sequence.request.promptTokens())));
        return;
      }
    }
    forget(sequence);
  }

  /** Drops a request wherever it is. */
  void abort(Sequence sequence, List<EngineEffect> effects) {
    switch (sequence.place) {
      case SOURCE -> {
        sourceBlocks -= sequence.blocks.size();
        forget(sequence);
        return;
      }
      case RUNNING -> running.remove(sequence);
      case QUEUED -> {
        uncountQueued(sequence);
        if (!arrived.remove(sequence) && !waiting.remove(sequence)) {
          held.remove(sequence);
        }
      }
      case SWAPPING_IN -> {
        uncountQueued(sequence);
        swappingIn--;
        OffloadTier.SwapIn swapIn = sequence.swapIn;
        if (swapIn != null) {
          swapIn.cancel();
        }
      }
      case DESTINATION -> uncountQueued(sequence);
    }
    finish(sequence, 0, FinishReason.ABORTED, effects);
  }

  /** Gives a sequence the blocks it lacks for some tokens. */
  Acquired grow(Sequence sequence, int tokens, List<EngineEffect> effects) {
    int missing = blocksFor(tokens) - sequence.blocks.size();
    if (missing <= 0) {
      return Acquired.DONE;
    }
    Acquired acquired =
        pool.acquire(sequence.hashes.first(0), 0, missing, sequence.blocks, effects);
    noteBlocked(sequence, acquired);
    return acquired;
  }

  void noteBlocked(Sequence sequence, Acquired acquired) {
    if (acquired == Acquired.BLOCKED && lower != null) {
      sequence.waitsFor = lower.lastEviction();
    }
  }

  /** Makes the blocks that are covered by computed tokens findable. */
  void publish(Sequence sequence, List<EngineEffect> effects) {
    if (!options.prefixCaching()) {
      return;
    }
    int full = sequence.computed / options.blockSize();
    if (full > sequence.published) {
      Publication.publish(
          pool,
          sequence.hashes,
          sequence.blocks,
          sequence.published,
          full,
          reportsCache() ? effects : null);
      sequence.published = full;
    }
  }

  /** Lets transfers between tiers progress, and requeues the requests whose blocks came back. */
  void advance(double nowMs, List<EngineEffect> effects) {
    OffloadTier tier = lower;
    if (tier == null) {
      return;
    }
    int before = pool.active();
    tier.advance(nowMs, effects);
    if (pool.active() < before) {
      handoffs.capacityFreed();
    }
    ArrayDeque<Sequence> back = new ArrayDeque<>();
    for (Sequence sequence = tier.pollSwappedIn();
        sequence != null;
        sequence = tier.pollSwappedIn()) {
      back.addFirst(sequence);
    }
    for (Sequence sequence : back) {
      sequence.swapIn = null;
      sequence.place = Place.QUEUED;
      swappingIn--;
      waiting.addFirst(sequence);
    }
  }

  CoreMetrics metrics() {
    return new CoreMetrics(
        running.size(),
        meter.queuedPrefill.count() + meter.queuedDecode.count(),
        meter.queuedPrefill.sum() + meter.queuedDecode.sum(),
        pool.active(),
        pool.inactive(),
        pool.capacity(),
        options.blockSize(),
        preempted,
        preemptions,
        promptTokens,
        cachedTokens,
        generatedTokens,
        lastPrefillHitRate,
        pause != null);
  }
}
