package dev.warmpath.fake.scheduler;

import dev.warmpath.fake.scheduler.BlockPool.Acquired;
import dev.warmpath.fake.scheduler.CommandResult.Outcome;
import dev.warmpath.fake.scheduler.HandoffRegistry.Destination;
import dev.warmpath.fake.scheduler.HandoffRegistry.Source;
import dev.warmpath.fake.scheduler.Sequence.Place;
import java.util.List;

/** The source's and the destination's part in handoffs. */
final class VllmHandoffs {
  private final VllmState state;
  private final CoreOptions options;

  VllmHandoffs(VllmState state) {
    this.state = state;
    this.options = state.options;
  }

  Outcome releaseSource(long handoffId) {
    Source<Sequence> source = state.handoffs.removeSource(handoffId);
    if (source == null) {
      return Outcome.NOOP;
    }
    Sequence held = source.held();
    if (held != null) {
      free(held);
    }
    return Outcome.APPLIED;
  }

  Outcome cancelSource(long handoffId, List<EngineEffect> effects) {
    Source<Sequence> source = state.handoffs.removeSource(handoffId);
    if (source == null) {
      return Outcome.NOOP;
    }
    Sequence sequence = state.known.get(source.requestId());
    if (sequence != null) {
      state.abort(sequence, effects);
    }
    return Outcome.APPLIED;
  }

  private void free(Sequence held) {
    state.sourceBlocks -= held.blocks.size();
    state.forget(held);
  }

  /** Puts a destination in the line. */
  void reserve(long handoffId, EngineRequest request) {
    if (options.admission() == AdmissionPolicy.GUARANTEED_NO_EVICT) {
      throw new IllegalArgumentException(
          "a scheduler that guarantees not to evict can't be a destination;"
              + " use AdmissionPolicy.OPTIMISTIC");
    }
    int blocks = state.blocksFor(request.promptTokens());
    if (blocks > state.pool.capacity()) {
      throw new IllegalArgumentException(
          "the prompt needs " + blocks + " blocks, the pool has " + state.pool.capacity());
    }
    if (request.promptTokens() >= options.maxModelLen()) {
      throw new IllegalArgumentException(
          "the prompt reaches the context length of " + options.maxModelLen());
    }
    state.requireUnknown(request.id());
    Sequence sequence = state.newSequence(request);
    sequence.place = Place.DESTINATION;
    state.handoffs.addPending(handoffId, request.id(), sequence);
    state.known.put(request.id(), sequence);
    state.countQueued(sequence, true);
  }

  Outcome activate(long handoffId, List<EngineEffect> effects) {
    Destination<Sequence> destination = state.handoffs.activate(handoffId);
    if (destination == null) {
      return Outcome.NOOP;
    }
    Sequence sequence = destination.state();
    sequence.computed = sequence.length();
    state.publish(sequence, effects);
    sequence.place = Place.QUEUED;
    state.arrived.addLast(sequence);
    return Outcome.APPLIED;
  }

  Outcome cancelDestination(long handoffId, List<EngineEffect> effects) {
    Destination<Sequence> destination = state.handoffs.removeDestination(handoffId);
    if (destination == null) {
      return Outcome.NOOP;
    }
    state.abort(destination.state(), effects);
    return Outcome.APPLIED;
  }

  /** Serves the line from its head as long as there are blocks. */
  void retry(List<EngineEffect> effects) {
    Destination<Sequence> head = state.handoffs.takeTurn();
    while (head != null
        && state.running.size() < options.maxNumSeqs()
        && reserveBlocks(head, effects)) {
      head = state.handoffs.takeTurn();
    }
  }

  private boolean reserveBlocks(Destination<Sequence> head, List<EngineEffect> effects) {
    Sequence sequence = head.state();
    int prompt = sequence.request.promptTokens();
    int full = options.prefixCaching() ? prompt / options.blockSize() : 0;
    long[] hashes = sequence.hashes.first(full);
    int hits = state.pool.residentPrefix(hashes, full);
    int fresh = state.blocksFor(prompt) - hits;
    if (state.pool.acquire(hashes, hits, fresh, sequence.blocks, effects) != Acquired.DONE) {
      return false;
    }
    sequence.cachedBlocks = hits;
    sequence.published = hits;
    state.handoffs.reserved(head);
    effects.add(
        new EngineEffect.DestinationReserved(
            head.handoffId(), head.requestId(), fresh * options.blockSize()));
    return true;
  }
}
