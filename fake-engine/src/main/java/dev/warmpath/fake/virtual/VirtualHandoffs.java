package dev.warmpath.fake.virtual;

import dev.warmpath.fake.handoff.HandoffSettings;
import dev.warmpath.fake.handoff.HandoffStage;
import dev.warmpath.fake.scheduler.EngineEffect;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;

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
  private final Map<Long, VirtualHandoff> sessions = new HashMap<>();
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
   * Starts a handoff between two ranks.
   *
   * @param handoff who does what
   * @return its id
   * @throws IllegalStateException if somebody else owns the lifecycle of one of its ranks
   */
  public long start(Handoff handoff) {
    own(handoff.source());
    own(handoff.destination());
    VirtualHandoff begun = open(handoff.answer().promptTokens(), handoff.progress());
    begun.source(handoff.source(), handoff.prompt(), handoff.sourceListener());
    begun.destination(handoff.destination(), handoff.answer(), handoff.destinationListener());
    return begun.id();
  }

  /**
   * Opens a handoff whose ranks are named as they are chosen. It begins with the first of them.
   *
   * @param promptTokens length of the prompt
   * @param progress hears the stages, in order
   * @return the handoff
   */
  public VirtualHandoff open(int promptTokens, Consumer<HandoffStage> progress) {
    long id = ++lastId;
    VirtualHandoff handoff = new VirtualHandoff(id, promptTokens, settings, progress, time, this);
    sessions.put(id, handoff);
    return handoff;
  }

  void ended(long id) {
    sessions.remove(id);
  }

  void own(VirtualRank rank) {
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
        VirtualHandoff handoff = sessions.get(held.handoffId());
        if (handoff != null) {
          handoff.sourceHeld(held.transferMs());
        }
      } else if (effect instanceof EngineEffect.DestinationReserved reserved) {
        VirtualHandoff handoff = sessions.get(reserved.handoffId());
        if (handoff != null) {
          handoff.destinationReserved(reserved.transferableTokens());
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
    VirtualHandoff handoff = sessions.get(id);
    if (handoff != null) {
      handoff.cancel();
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
