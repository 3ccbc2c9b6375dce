package dev.warmpath.fake.scheduler;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The handoffs that one scheduler takes part in: which requests are sources, what is held for
 * transfers, and which destinations are pending, reserved and active.
 *
 * <p>It knows who owns what and in which order destinations are tried; the blocks themselves are
 * the scheduler's. A source and a destination may have the same handoff id, when both are on one
 * scheduler.
 *
 * @param <S> the scheduler's own state of a request
 */
final class HandoffRegistry<S> {

  /** A request whose KV will be or is held. */
  static final class Source<S> {
    private final long handoffId;
    private final long requestId;
    private @Nullable S held;

    private Source(long handoffId, long requestId) {
      this.handoffId = handoffId;
      this.requestId = requestId;
    }

    long handoffId() {
      return handoffId;
    }

    long requestId() {
      return requestId;
    }

    /** What is held, or null while the request is still being computed. */
    @Nullable S held() {
      return held;
    }
  }

  /** Where a destination stands. */
  enum Phase {
    /** Waits for blocks. */
    PENDING,
    /** Has blocks and waits for the transfer. */
    RESERVED,
    /** Is an ordinary request by now. */
    ACTIVE
  }

  /** A request whose prompt comes from elsewhere. */
  static final class Destination<S> {
    private final long handoffId;
    private final long requestId;
    private final S state;
    private Phase phase = Phase.PENDING;
    private long tried = -1;

    private Destination(long handoffId, long requestId, S state) {
      this.handoffId = handoffId;
      this.requestId = requestId;
      this.state = state;
    }

    long handoffId() {
      return handoffId;
    }

    long requestId() {
      return requestId;
    }

    S state() {
      return state;
    }

    Phase phase() {
      return phase;
    }
  }

  private final Map<Long, Source<S>> sources = new HashMap<>();
  private final Map<Long, Source<S>> sourcesByRequest = new HashMap<>();
  private final Map<Long, Destination<S>> destinations = new HashMap<>();
  private final Map<Long, Destination<S>> destinationsByRequest = new HashMap<>();
  private final ArrayDeque<Destination<S>> pending = new ArrayDeque<>();
  private long generation;

  /**
   * Refuses a handoff id that has a source here.
   *
   * @throws IllegalArgumentException if it is in use
   */
  void requireNoSource(long handoffId) {
    if (sources.containsKey(handoffId)) {
      throw new IllegalArgumentException("handoff " + handoffId + " already has a source here");
    }
  }

  /**
   * Refuses a handoff id that has a destination here.
   *
   * @throws IllegalArgumentException if it is in use
   */
  void requireNoDestination(long handoffId) {
    if (destinations.containsKey(handoffId)) {
      throw new IllegalArgumentException(
          "handoff " + handoffId + " already has a destination here");
    }
  }

  /** Makes a submitted request a source. */
  void registerSource(long handoffId, long requestId) {
    requireNoSource(handoffId);
    Source<S> source = new Source<>(handoffId, requestId);
    sources.put(handoffId, source);
    sourcesByRequest.put(requestId, source);
  }

  /**
   * Holds a request that has come to its end, if it is a source.
   *
   * @return the source, or null if nothing is to be held
   */
  @Nullable Source<S> hold(long requestId, S state) {
    Source<S> source = sourcesByRequest.get(requestId);
    if (source != null) {
      source.held = state;
    }
    return source;
  }

  /** Forgets a source; null if it is unknown. */
  @Nullable Source<S> removeSource(long handoffId) {
    Source<S> source = sources.remove(handoffId);
    if (source != null) {
      sourcesByRequest.remove(source.requestId);
    }
    return source;
  }

  /** Forgets the source that a request is; null if it is none. */
  @Nullable Source<S> removeSourceOf(long requestId) {
    Source<S> source = sourcesByRequest.get(requestId);
    return source == null ? null : removeSource(source.handoffId);
  }

  /** Puts a destination at the end of the line. */
  void addPending(long handoffId, long requestId, S state) {
    requireNoDestination(handoffId);
    Destination<S> destination = new Destination<>(handoffId, requestId, state);
    destinations.put(handoffId, destination);
    destinationsByRequest.put(requestId, destination);
    pending.addLast(destination);
  }

  /** Something was freed: the head of the line may be tried again. */
  void capacityFreed() {
    generation++;
  }

  /** Whether any destination waits for blocks. */
  boolean hasPending() {
    return !pending.isEmpty();
  }

  /** Whether {@link #takeTurn} would return a destination. */
  boolean hasTurn() {
    Destination<S> head = pending.peekFirst();
    return head != null && head.tried != generation;
  }

  /**
   * Returns the head of the line, once per change of capacity. Whoever gets it tries to reserve its
   * blocks and says {@link #reserved} if that worked.
   *
   * @return the head, or null if there is none or nothing was freed since its last turn
   */
  @Nullable Destination<S> takeTurn() {
    Destination<S> head = pending.peekFirst();
    if (head == null || head.tried == generation) {
      return null;
    }
    head.tried = generation;
    return head;
  }

  /** The head of the line has got its blocks. */
  void reserved(Destination<S> head) {
    if (pending.peekFirst() != head) {
      throw new IllegalStateException("only the head of the line can be served");
    }
    pending.removeFirst();
    head.phase = Phase.RESERVED;
  }

  /**
   * Makes a reserved destination an ordinary request.
   *
   * @return it, or null if there is no such destination or it isn't reserved
   */
  @Nullable Destination<S> activate(long handoffId) {
    Destination<S> destination = destinations.get(handoffId);
    if (destination == null || destination.phase != Phase.RESERVED) {
      return null;
    }
    destination.phase = Phase.ACTIVE;
    return destination;
  }

  /** Forgets a destination in whatever phase it is; null if it is unknown. */
  @Nullable Destination<S> removeDestination(long handoffId) {
    Destination<S> destination = destinations.remove(handoffId);
    if (destination != null) {
      destinationsByRequest.remove(destination.requestId);
      if (destination.phase == Phase.PENDING) {
        pending.remove(destination);
      }
    }
    return destination;
  }

  /** Forgets the destination that a request is; null if it is none. */
  @Nullable Destination<S> removeDestinationOf(long requestId) {
    Destination<S> destination = destinationsByRequest.get(requestId);
    return destination == null ? null : removeDestination(destination.handoffId);
  }

  /** Whether no handoff is known. */
  boolean isEmpty() {
    return sources.isEmpty() && destinations.isEmpty();
  }
}
