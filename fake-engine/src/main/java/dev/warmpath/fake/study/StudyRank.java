package dev.warmpath.fake.study;

import dev.warmpath.fake.live.RankListener;
import dev.warmpath.fake.live.RankSnapshot;
import dev.warmpath.fake.scheduler.BlockSource;
import dev.warmpath.fake.scheduler.CoreMetrics;
import dev.warmpath.fake.scheduler.EngineRequest;
import dev.warmpath.fake.scheduler.FinishReason;
import dev.warmpath.fake.virtual.VirtualTime;
import java.util.HashMap;
import java.util.Map;

/**
 * A worker of the study for requests as engines take them, so that router clients can be sent
 * there. What it tells of its load is its load at that moment, requests that have arrived during a
 * pass included. Used on the thread of its {@link VirtualTime}.
 */
public final class StudyRank {
  private final StudyWorker worker;
  private final Map<Long, StudyWorker.Job> jobs = new HashMap<>();
  private final Map<Long, RankListener> listeners = new HashMap<>();

  /** Hears which of a rank's blocks can be found and which no longer. */
  public interface CacheListener {
    /**
     * A block can be found, or no longer.
     *
     * @param block its identity, as requests gave it
     * @param stored whether it can
     */
    void changed(long block, boolean stored);
  }

  /**
   * Creates an idle worker with an empty cache.
   *
   * @param time the time to live in
   * @param cacheTokens what its cache holds
   * @param blockTokens tokens of a block, which requests' stretches must have too
   * @param cache hears of the cache's changes, when they happen
   */
  public StudyRank(VirtualTime time, int cacheTokens, int blockTokens, CacheListener cache) {
    BlockCache.Listener listener =
        new BlockCache.Listener() {
          @Override
          public void stored(int block) {
            cache.changed(block, true);
          }

          @Override
          public void removed(int block) {
            cache.changed(block, false);
          }
        };
    this.worker = new StudyWorker(time, cacheTokens, blockTokens, listener, null);
  }

  private StudyPrompt prompt(EngineRequest request) {
    if (!(request.content() instanceof BlockSource.Stretches stretches)
        || stretches.tokensPerId() != worker.blockTokens()) {
      throw new IllegalArgumentException(
          "a request to a worker of the study is made of stretches of "
              + worker.blockTokens()
              + " tokens");
    }
    return StudyPrompt.of(
        0,
        0,
        request.promptTokens(),
        Math.max(1, request.outputTokens()),
        stretches.ids(),
        stretches.tokensPerId());
  }

  /**
   * A request arrives.
   *
   * @param request the sequence to compute
   * @param listener hears its outcome: rejected at once if it fits into no cache of this size, all
   *     tokens after the first when the last is there
   */
  public void submit(EngineRequest request, RankListener listener) {
    StudyPrompt prompt = prompt(request);
    if (!worker.fits(prompt)) {
      listener.output(0, FinishReason.REJECTED);
      return;
    }
    listeners.put(request.id(), listener);
    jobs.put(request.id(), worker.submit(prompt, new Outcome(request.id(), listener, prompt)));
  }

  private final class Outcome implements StudyWorker.Listener {
    private final long id;
    private final RankListener listener;
    private final StudyPrompt prompt;

    Outcome(long id, RankListener listener, StudyPrompt prompt) {
      this.id = id;
      this.listener = listener;
      this.prompt = prompt;
    }

    @Override
    public void firstToken(int cachedTokens) {
      listener.admitted(cachedTokens);
      if (prompt.outputTokens() > 1) {
        listener.output(1, null);
      }
    }

    @Override
    public void finished() {
      jobs.remove(id);
      listeners.remove(id);
      listener.output(Math.max(1, prompt.outputTokens() - 1), FinishReason.COMPLETED);
    }
  }

  /**
   * Drops a request and tells its listener.
   *
   * @param requestId the id it was submitted with; unknown ids are ignored
   */
  public void cancel(long requestId) {
    StudyWorker.Job job = jobs.remove(requestId);
    RankListener listener = listeners.remove(requestId);
    if (job != null && listener != null) {
      worker.cancel(job);
      listener.output(0, FinishReason.ABORTED);
    }
  }

  /** Empties the cache at once; running requests go on, with blocks that can't be found. */
  public void flush() {
    worker.flush();
  }

  /** The process dies: every request is aborted, the cache is empty, counters begin anew. */
  public void die() {
    worker.die();
    Map<Long, RankListener> aborted = new java.util.TreeMap<>(listeners);
    jobs.clear();
    listeners.clear();
    aborted.values().forEach(listener -> listener.output(0, FinishReason.ABORTED));
  }

  /** What its endpoints show. */
  public RankSnapshot snapshot() {
    return new RankSnapshot(metrics(), 0, worker.passes());
  }

  /** Its state. */
  public CoreMetrics metrics() {
    int blocks = (int) (worker.capacityTokens() / worker.blockTokens());
    int held = (int) (worker.usedTokens() / worker.blockTokens());
    return new CoreMetrics(
        worker.running(),
        worker.waiting(),
        worker.pendingTokens(),
        held,
        worker.evictableBlocks(),
        blocks,
        worker.blockTokens(),
        0,
        0,
        worker.promptTokens(),
        worker.cachedTokens(),
        worker.outputTokens(),
        0,
        false);
  }

  /**
   * Looks into the cache.
   *
   * @param request any request
   * @return prompt tokens that need not be computed if it were admitted at this moment
   */
  public int cachedTokens(EngineRequest request) {
    return worker.cachedBlocks(prompt(request)) * worker.blockTokens();
  }
}
