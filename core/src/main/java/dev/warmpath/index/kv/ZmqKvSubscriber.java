package dev.warmpath.index.kv;

import dev.warmpath.index.KvStream;
import dev.warmpath.worker.KvEventSource;
import dev.warmpath.worker.WorkerRank;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Listens over ZeroMQ, by JeroMQ: an optional dependency ({@code org.zeromq:jeromq}), which is
 * looked for when the first worker has an endpoint.
 *
 * <p>A worker's endpoint is what its labels say, else what it says itself: see {@link
 * KvEventSource}. One thread listens to all ranks.
 */
public final class ZmqKvSubscriber implements KvSubscriber {
  private static final Logger log = LoggerFactory.getLogger(ZmqKvSubscriber.class);
  private static final String JEROMQ = "org.zeromq.ZContext";

  private final KvEventSettings settings;
  private final boolean discovered;
  private @Nullable ZmqListener listener;
  private boolean missing;

  /**
   * Creates a subscriber that listens to nobody.
   *
   * @param settings the bounds
   * @param discovered whether to listen where workers themselves say that they tell, and not only
   *     where their labels say so
   */
  public ZmqKvSubscriber(KvEventSettings settings, boolean discovered) {
    this.settings = settings;
    this.discovered = discovered;
  }

  @Override
  public @Nullable String endpoint(WorkerRank rank) {
    KvEventSource source = source(rank);
    if (source == null || !present()) {
      return null;
    }
    int number = rank.rank().orElse(0);
    return switch (rank.worker().engine()) {
      case UNKNOWN -> null;
      // All of its ranks would bind one port, which the first gets.
      case ATOM -> number == 0 ? source.url(rank.worker().id(), 0) : null;
      case SGLANG, VLLM -> source.url(rank.worker().id(), number);
    };
  }

  private @Nullable KvEventSource source(WorkerRank rank) {
    boolean labelled = rank.worker().spec().labels().containsKey(KvEventSource.LABEL);
    return labelled || discovered ? rank.worker().kvEvents() : null;
  }

  /** Whether JeroMQ is there; says once what to do if it is not. */
  private boolean present() {
    if (missing) {
      return false;
    }
    try {
      Class.forName(JEROMQ, false, ZmqKvSubscriber.class.getClassLoader());
      return true;
    } catch (ClassNotFoundException e) {
      missing = true;
      log.error(
          "Workers tell of their KV caches over ZeroMQ, but org.zeromq:jeromq is not on the class"
              + " path: add it, or what they hold is only guessed");
      return false;
    }
  }

  @Override
  public Subscription subscribe(WorkerRank rank, KvStream stream) {
    KvEventSource source = source(rank);
    if (source == null) {
      throw new IllegalArgumentException(rank + " has no endpoint of KV events");
    }
    ZmqListener known = listener;
    if (known == null) {
      known = new ZmqListener(settings);
      listener = known;
    }
    int number = rank.rank().orElse(0);
    return known.listen(
        new ZmqListener.Target(
            rank.toString(),
            source.url(rank.worker().id(), number),
            source.replayUrl(rank.worker().id(), number),
            source.topic(),
            rank.rank()),
        stream);
  }

  @Override
  public void close() {
    ZmqListener known = listener;
    if (known != null) {
      known.close();
    }
  }
}
