package dev.warmpath.index;

import dev.warmpath.hash.BlockHashes;
import dev.warmpath.index.BlockAnswer.Failure;
import dev.warmpath.index.BlockAnswer.Kind;
import dev.warmpath.prompt.Exactness;
import dev.warmpath.prompt.Prompt;
import dev.warmpath.worker.Topology;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks a {@link BlockLocator} where a prompt's blocks are, by the names that the workers' engines
 * give them, and makes ranks of the nodes it answers with. Workers that hash alike are asked for
 * together; a match never counts for a worker that hashes in another way. Thread safe.
 *
 * <p>It waits for nothing: whoever begins a look-up waits for {@link Pending#settled} as long as it
 * likes, then takes what is there.
 */
public final class BlockLookup implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(BlockLookup.class);
  private static final Duration NO_LIMIT = Duration.ofSeconds(Long.MAX_VALUE);

  private final BlockLocator locator;
  private final LookupSettings settings;
  private final AtomicBoolean complained = new AtomicBoolean();
  private final LongAdder found = new LongAdder();
  private final LongAdder empty = new LongAdder();
  private final LongAdder failed = new LongAdder();
  private final LongAdder skipped = new LongAdder();
  private final LongAdder ignoredNodes = new LongAdder();
  private volatile LookupTargets targets;

  /**
   * Creates a look-up.
   *
   * @param locator is asked; closed with this
   * @param settings how
   */
  public BlockLookup(BlockLocator locator, LookupSettings settings) {
    this.locator = locator;
    this.settings = settings;
    this.targets = new LookupTargets(Topology.EMPTY, settings);
  }

  /**
   * What look-ups came to.
   *
   * @param found those that found at least one rank
   * @param empty those after which nobody was known to hold anything
   * @param failed those that told nothing
   * @param skipped requests that were not looked up
   * @param ignoredNodes nodes in answers that were none of the workers asked for
   */
  public record Stats(long found, long empty, long failed, long skipped, long ignoredNodes) {
    /** Of a client without a locator. */
    public static final Stats NONE = new Stats(0, 0, 0, 0, 0);
  }

  /** What look-ups came to so far. */
  public Stats stats() {
    return new Stats(found.sum(), empty.sum(), failed.sum(), skipped.sum(), ignoredNodes.sum());
  }

  /** What a block is worth in each tier. */
  public TierWeights weights() {
    return settings.weights();
  }

  /**
   * Begins to look a prompt up, at all workers that serve its model. Neither blocks nor fails.
   *
   * @param topology the workers
   * @param counted whether the prompt is about to be sent
   * @param atMost how long the request can wait at all, or null for as long as it takes
   */
  public Pending begin(
      Topology topology, Prompt prompt, boolean counted, @Nullable Duration atMost) {
    try {
      return ask(topology, prompt, counted, atMost == null ? NO_LIMIT : atMost);
    } catch (RuntimeException e) {
      complain(e);
      return new Pending(failure(Kind.ERROR, e.getClass().getSimpleName()));
    }
  }

  private void complain(RuntimeException e) {
    if (complained.compareAndSet(false, true)) {
      log.warn("Looking blocks up failed: requests are routed without it; this is logged once", e);
    }
  }

  private Pending ask(Topology topology, Prompt prompt, boolean counted, Duration atMost) {
    if (prompt.exactness() != Exactness.EXACT) {
      return skip("the prompt is " + prompt.exactness().label() + ", its engine's blocks unknown");
    }
    LookupTargets known = targets;
    if (known.topology() != topology) {
      known = new LookupTargets(topology, settings);
      targets = known;
    }
    LookupTargets.Served served = known.served(prompt.model());
    Duration timeout = atMost.compareTo(settings.deadline()) < 0 ? atMost : settings.deadline();
    String why = served.unknown();
    List<Part> parts = new ArrayList<>(served.groups().size());
    for (LookupTargets.Group group : served.groups()) {
      BlockHashes hashes = prompt.engineBlocks(group.scheme(prompt.hashKeys()));
      if (hashes.namespace().unhashed() != 0) {
        why = "the engine's hashes don't cover the request's adapter, salt or extra key";
      } else if (hashes.size() == 0) {
        why = "the prompt is shorter than a block";
      } else if (timeout.isNegative() || timeout.isZero()) {
        why = "the request's own deadline is over";
      } else {
        BlockKeyEncoder encoder = group.encoder();
        BlockQuery query =
            new BlockQuery(
                Math.min(hashes.size(), settings.maxBlocks()),
                block -> encoder.key(hashes, block),
                counted,
                timeout);
        parts.add(new Part(group, hashes.scheme().blockTokens(), locator.locate(query)));
      }
    }
    return parts.isEmpty()
        ? skip(why == null ? "nobody serves the model" : why)
        : new Pending(known, prompt.tokens(), timeout, parts);
  }

  private Pending skip(String why) {
    return new Pending(BlockLocations.skipped(locator.name(), why));
  }

  private BlockLocations failure(Kind kind, @Nullable String detail) {
    return new BlockLocations(
        locator.name(),
        BlockLocations.Outcome.FAILED,
        new Failure(kind, detail).toString(),
        0,
        0,
        0,
        List.of());
  }

  /** A question about the workers of a group. */
  private record Part(
      LookupTargets.Group group, int blockTokens, CompletableFuture<BlockAnswer> answer) {}

  /** A look-up that has begun. Its {@link #take} is called once, by one thread. */
  public final class Pending {
    private final @Nullable BlockLocations known;
    private final @Nullable LookupTargets among;
    private final int promptTokens;
    private final Duration timeout;
    private final List<Part> parts;
    private final CountDownLatch settled;

    private Pending(BlockLocations known) {
      this.known = known;
      this.among = null;
      this.promptTokens = 0;
      this.timeout = Duration.ZERO;
      this.parts = List.of();
      this.settled = new CountDownLatch(0);
    }

    private Pending(LookupTargets among, int promptTokens, Duration timeout, List<Part> parts) {
      this.known = null;
      this.among = among;
      this.promptTokens = promptTokens;
      this.timeout = timeout;
      this.parts = parts;
      this.settled = new CountDownLatch(parts.size());
      for (Part part : parts) {
        var unused = part.answer().whenComplete((answer, error) -> settled.countDown());
      }
    }

    /** Counted down once nothing more is to be waited for. */
    public CountDownLatch settled() {
      return settled;
    }

    /** How long it is worth to wait. */
    public Duration timeout() {
      return timeout;
    }

    /**
     * What is there by now; the rest is given up.
     *
     * @param nanos how long it was waited for
     */
    public BlockLocations take(long nanos) {
      BlockLocations taken;
      try {
        taken = known != null || among == null ? known : merge(among, nanos);
      } catch (RuntimeException e) {
        complain(e);
        taken = null;
      }
      BlockLocations result =
          taken == null ? failure(Kind.ERROR, "the answer makes no sense") : taken;
      count(result);
      return result;
    }

    private BlockLocations merge(LookupTargets workers, long nanos) {
      RankTiers ranks = new RankTiers(workers);
      int asked = 0;
      Failure failure = null;
      for (Part part : parts) {
        BlockAnswer answer = answer(part);
        if (answer.failure() != null) {
          failure = answer.failure();
        }
        if (answer.asked() > 0) {
          asked = Math.max(asked, answer.asked());
          ranks.add(part.group(), part.blockTokens(), answer.nodes());
        }
      }
      List<BlockLocations.Match> matches = ranks.matches(promptTokens);
      return new BlockLocations(
          locator.name(),
          !matches.isEmpty()
              ? BlockLocations.Outcome.FOUND
              : asked > 0 ? BlockLocations.Outcome.EMPTY : BlockLocations.Outcome.FAILED,
          failure == null ? null : failure.toString(),
          asked,
          ranks.ignored(),
          nanos,
          matches);
    }

    private BlockAnswer answer(Part part) {
      CompletableFuture<BlockAnswer> future = part.answer();
      if (!future.isDone()) {
        future.cancel(true);
        return BlockAnswer.failed(Kind.DEADLINE, "none within " + timeout.toMillis() + " ms");
      }
      try {
        return future.join();
      } catch (RuntimeException e) {
        complain(e);
        Throwable cause =
            e instanceof CompletionException && e.getCause() != null ? e.getCause() : e;
        return BlockAnswer.failed(Kind.ERROR, cause.getClass().getSimpleName());
      }
    }
  }

  private void count(BlockLocations result) {
    switch (result.outcome()) {
      case FOUND -> found.increment();
      case EMPTY -> empty.increment();
      case FAILED -> failed.increment();
      case SKIPPED -> skipped.increment();
    }
    ignoredNodes.add(result.ignoredNodes());
  }

  /** Closes the locator. */
  @Override
  public void close() {
    locator.close();
  }
}
