package dev.warmpath.fake.virtual;

import dev.warmpath.fake.handoff.HandoffSettings;
import dev.warmpath.fake.scheduler.EngineEffect;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Conducts handoffs between ranks in virtual time. Each one's transfer takes its own time,
 * independent of the others.
 *
 * <p>It owns the lifecycle of every rank that takes part. Used on the thread that runs its {@link
 * VirtualTime}.
 */
public final class VirtualHandoffs {
  private final VirtualTime time;
  private final HandoffSettings settings;
  private final Set<VirtualRank> ranks = Collections.newSetFromMap(new IdentityHashMap<>());
  private final Map<Long, HandoffSession> sessions = new HashMap<>();
  private long lastId;

  /**
   * Begins without any handoff.
   *
   * @param time the time its ranks live in
   * @param settings how to conduct each
   */
  public VirtualHandoffs(VirtualTime time, HandoffSettings settings) {
    this.time = Objects.requireNonNull(time, "time");
    this.settings = Objects.requireNonNull(settings, "settings");
  }

  /**
   * Starts a handoff.
   *
   * @param handoff who does what
   * @return its id
   * @throws IllegalStateException if somebody else owns the lifecycle of one of its ranks
   */
  public long start(Handoff handoff) {
    own(handoff.source());
    own(handoff.destination());
    long id = ++lastId;
    HandoffSession session =
        new HandoffSession(id, handoff, settings, time, () -> sessions.remove(id));
    sessions.put(id, session);
    session.start();
    return id;
  }

  private void own(VirtualRank rank) {
    if (ranks.contains(rank)) {
      return;
    }
    if (!rank.takeLifecycle(this::hear)) {
      throw new IllegalStateException(
          "the rank's lifecycle has an owner; conduct all handoffs of a rank in one place");
    }
    ranks.add(rank);
  }

  private void hear(List<EngineEffect> effects) {
    for (EngineEffect effect : effects) {
      if (effect instanceof EngineEffect.SourceHeld held) {
        HandoffSession session = sessions.get(held.handoffId());
        if (session != null) {
          session.sourceHeld(held.transferMs());
        }
      } else if (effect instanceof EngineEffect.DestinationReserved reserved) {
        HandoffSession session = sessions.get(reserved.handoffId());
        if (session != null) {
          session.destinationReserved(reserved.transferableTokens());
        }
      }
    }
  }

  /**
   * Gives a handoff up, whatever it has come to; its requests hear an abort. Once it has ended the
   * requests are ordinary ones, and this has no effect.
   *
   * @param id what {@link #start} returned
   */
  public void cancel(long id) {
    HandoffSession session = sessions.get(id);
    if (session != null) {
      session.cancel();
    }
  }

  /**
   * Counts the handoffs that have not ended.
   *
   * @return how many
   */
  public int underWay() {
    return sessions.size();
  }
}
