package dev.warmpath.index.kv;

import dev.warmpath.index.BlockIndex;
import dev.warmpath.index.KvEventIndex;
import dev.warmpath.index.KvStream;
import dev.warmpath.worker.ServedModel;
import dev.warmpath.worker.Topology;
import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerRank;
import dev.warmpath.worker.WorkerRegistry;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Listens to every rank that tells of its KV cache, as workers come, restart and go.
 *
 * <p>It must hear of a change before whoever drops what is known of a rank that is gone: where the
 * engine's batches have shown its restart before the registry knows of it, what they told since
 * goes over to the new incarnation. Thread safe.
 */
public final class KvEvents implements WorkerRegistry.Listener, AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(KvEvents.class);

  private final KvEventIndex index;
  private final List<KvSubscriber> subscribers;
  private final InstantSource clock;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<String, Heard> heard = new HashMap<>();
  private boolean closed;

  /** A rank that is listened to. */
  private static final class Heard {
    final String endpoint;
    final @Nullable String model;
    final KvStream stream;
    final KvSubscriber.Subscription subscription;
    long holderId;

    Heard(
        String endpoint,
        @Nullable String model,
        KvStream stream,
        KvSubscriber.Subscription subscription,
        long holderId) {
      this.endpoint = endpoint;
      this.model = model;
      this.stream = stream;
      this.subscription = subscription;
      this.holderId = holderId;
    }

    void end() {
      subscription.close();
      stream.close();
    }
  }

  /**
   * Listens to nobody yet.
   *
   * @param index what is taught
   * @param clientTokens tokens of a block in the index
   * @param settings the bounds
   * @param subscribers the ways, of which a rank's first is taken; closed with this
   */
  public KvEvents(
      BlockIndex index,
      int clientTokens,
      KvEventSettings settings,
      List<KvSubscriber> subscribers) {
    this(index, clientTokens, settings, subscribers, InstantSource.system());
  }

  /**
   * The same by another clock.
   *
   * @param clock tells how late events come, and how fast
   */
  public KvEvents(
      BlockIndex index,
      int clientTokens,
      KvEventSettings settings,
      List<KvSubscriber> subscribers,
      InstantSource clock) {
    this.clock = clock;
    this.index = new KvEventIndex(index, clientTokens, settings.budgetBytes());
    this.subscribers = List.copyOf(subscribers);
  }

  @Override
  public void onChange(Topology before, Topology after) {
    lock.lock();
    try {
      if (!closed) {
        follow(after);
      }
    } finally {
      lock.unlock();
    }
  }

  private void follow(Topology topology) {
    Map<String, WorkerRank> ranks = new HashMap<>();
    for (WorkerRank rank : topology.ranks()) {
      ranks.put(rank.toString(), rank);
    }
    Iterator<Map.Entry<String, Heard>> all = heard.entrySet().iterator();
    while (all.hasNext()) {
      Map.Entry<String, Heard> entry = all.next();
      if (!ranks.containsKey(entry.getKey())) {
        entry.getValue().end();
        all.remove();
      }
    }
    ranks.forEach(this::follow);
  }

  private void follow(String name, WorkerRank rank) {
    Heard known = heard.get(name);
    if (known != null && known.holderId != rank.holderId()) {
      known.holderId = rank.holderId();
      known.stream.renewed(rank.holderId());
    }
    if (rank.worker().models().isEmpty()) {
      return; // as after a restart, until the worker says what it serves
    }
    String model = model(rank.worker());
    for (KvSubscriber subscriber : subscribers) {
      String endpoint = subscriber.endpoint(rank);
      if (endpoint != null) {
        listen(name, rank, model, subscriber, endpoint);
        return;
      }
    }
  }

  private void listen(
      String name,
      WorkerRank rank,
      @Nullable String model,
      KvSubscriber subscriber,
      String endpoint) {
    Heard known = heard.get(name);
    if (known != null) {
      if (known.endpoint.equals(endpoint) && Objects.equals(known.model, model)) {
        return;
      }
      known.end();
      heard.remove(name);
    }
    KvStream stream = new KvStream(index.rank(rank.holderId(), model), clock);
    heard.put(
        name,
        new Heard(endpoint, model, stream, subscriber.subscribe(rank, stream), rank.holderId()));
  }

  /** The name that most requests will ask by: the first of a base model. */
  private static @Nullable String model(Worker worker) {
    for (ServedModel model : worker.models()) {
      if (!model.adapter()) {
        return model.id();
      }
    }
    return null;
  }

  /** What was heard so far. */
  public KvEventStats stats() {
    List<KvEventStats.Rank> ranks = new ArrayList<>();
    lock.lock();
    try {
      heard.forEach(
          (name, rank) ->
              ranks.add(
                  new KvEventStats.Rank(
                      name,
                      rank.endpoint,
                      rank.subscription.connected(),
                      rank.subscription.malformed(),
                      rank.stream.stats())));
    } finally {
      lock.unlock();
    }
    ranks.sort((a, b) -> a.rank().compareTo(b.rank()));
    return new KvEventStats(index.usedBytes(), index.budgetBytes(), ranks);
  }

  /** Listens to nobody any more. Idempotent. */
  @Override
  public void close() {
    List<Heard> last;
    lock.lock();
    try {
      closed = true;
      last = new ArrayList<>(heard.values());
      heard.clear();
    } finally {
      lock.unlock();
    }
    last.forEach(Heard::end);
    for (KvSubscriber subscriber : subscribers) {
      try {
        subscriber.close();
      } catch (RuntimeException e) {
        log.warn("Closing {} failed", subscriber.getClass().getName(), e);
      }
    }
  }
}
