package dev.warmpath;

import dev.warmpath.index.BlockIndex;
import dev.warmpath.index.BlockIndexFile;
import dev.warmpath.index.HeldBlocks;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.ServedModel;
import dev.warmpath.worker.StableHash;
import dev.warmpath.worker.Topology;
import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerCapabilities;
import dev.warmpath.worker.WorkerRank;
import dev.warmpath.worker.WorkerRegistry;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The file in which a client keeps which blocks it believes workers to hold, from one run to the
 * next: hashes, no text. What can't be read or written is told once, and the client goes on
 * without.
 *
 * <p>What was saved of a worker is guessed of it once: when it first appears, as soon as it has the
 * rank that was saved, unless it left or said of itself that it is another one. What a worker has
 * not said yet does not speak against it; once it does, its guesses go. A restart while no client
 * looked can't be seen, nor one before a worker of several ranks first says how many they are:
 * predictions then fail, and cost the worker credit.
 */
final class IndexStore implements WorkerRegistry.Listener {
  private static final Logger log = LoggerFactory.getLogger(IndexStore.class);

  private final Path file;
  private final Duration maxAge;
  private final BlockIndex blocks;
  private final InstantSource clock;
  private volatile Instant savedAt = Instant.MIN;

  // Touched by the registry's news only, which come one at a time.

  /** What was saved by worker and rank, of workers that have not been seen. */
  private final Map<String, Map<String, BlockIndexFile.Rank>> awaited = new HashMap<>();

  /** Ranks that guesses were given to and that have not said all by which they are recognized. */
  private final Map<Long, Identity> unsure = new HashMap<>();

  private volatile boolean idle = true;

  IndexStore(Path file, Duration maxAge, BlockIndex blocks, InstantSource clock) {
    this.file = file;
    this.maxAge = maxAge;
    this.blocks = blocks;
    this.clock = clock;
  }

  /** The store that a client was told to have, read; null for none. */
  static @Nullable IndexStore of(ClientSettings settings, boolean tokenizes, BlockIndex blocks) {
    if (settings.indexFile == null) {
      return null;
    }
    if (!tokenizes) {
      log.warn("The index file holds blocks of tokens: give the client its model");
      return null;
    }
    IndexStore store =
        new IndexStore(
            settings.indexFile, settings.indexFileMaxAge, blocks, InstantSource.system());
    store.load();
    return store;
  }

  /** Reads the file; before the first news. */
  void load() {
    if (!Files.exists(file)) {
      return;
    }
    try {
      if (Files.size(file) > BlockIndexFile.MOST_BYTES) {
        throw new IOException("longer than " + BlockIndexFile.MOST_BYTES + " bytes");
      }
      try (InputStream in = Files.newInputStream(file)) {
        BlockIndexFile.Content content = BlockIndexFile.read(in);
        savedAt = content.at();
        for (BlockIndexFile.Rank rank : content.ranks()) {
          awaited
              .computeIfAbsent(rank.worker(), worker -> new HashMap<>())
              .put(name(rank.worker(), rank.rank()), rank);
        }
      }
      idle = awaited.isEmpty();
    } catch (IOException e) {
      log.warn("The blocks of workers in {} can't be read, and are learned anew", file, e);
    }
  }

  private static String name(String worker, int rank) {
    return rank < 0 ? worker : worker + "#" + rank;
  }

  @Override
  public void onChange(Topology before, Topology after) {
    if (idle) {
      return;
    }
    if (!awaited.isEmpty()
        && Duration.between(savedAt, clock.instant()).abs().compareTo(maxAge) > 0) {
      log.debug("What {} says of {} workers is too old", file, awaited.size());
      awaited.clear();
    }
    for (Worker worker : before.workers()) {
      if (goneOrRestarted(worker, after.worker(worker.id()))) {
        awaited.remove(worker.id().value());
      }
    }
    for (Worker worker : after.workers()) {
      Map<String, BlockIndexFile.Rank> saved = awaited.get(worker.id().value());
      if (saved != null && guess(worker, saved)) {
        awaited.remove(worker.id().value());
      }
    }
    check(after);
    idle = awaited.isEmpty() && unsure.isEmpty();
  }

  /** A worker that says how many ranks it has is another incarnation too, and no restart. */
  private static boolean goneOrRestarted(Worker before, @Nullable Worker now) {
    return now == null
        || (now.epoch() != before.epoch() && now.ranks().size() == before.ranks().size());
  }

  /** Whether it is settled what becomes of what was saved of a worker. */
  private boolean guess(Worker worker, Map<String, BlockIndexFile.Rank> saved) {
    // Before it has said how many ranks it has it is taken for one of a single rank.
    boolean settled =
        worker.spec().dpSize() != null || !worker.capabilities().equals(WorkerCapabilities.UNKNOWN);
    for (WorkerRank rank : worker.ranks()) {
      BlockIndexFile.Rank known = saved.get(rank.toString());
      if (known != null) {
        settled = true;
        if (!Identity.of(known).contradicts(Identity.of(worker))) {
          blocks.assume(rank.holderId(), known.held());
          unsure.put(rank.holderId(), Identity.of(known));
        }
      }
    }
    return settled;
  }

  /** Takes guesses back from ranks that turn out to be others. */
  private void check(Topology after) {
    if (unsure.isEmpty()) {
      return;
    }
    Map<Long, WorkerRank> present =
        after.ranks().stream().collect(Collectors.toMap(WorkerRank::holderId, rank -> rank));
    Iterator<Map.Entry<Long, Identity>> all = unsure.entrySet().iterator();
    while (all.hasNext()) {
      Map.Entry<Long, Identity> entry = all.next();
      WorkerRank rank = present.get(entry.getKey());
      if (rank == null) {
        all.remove();
      } else if (entry.getValue().contradicts(Identity.of(rank.worker()))) {
        log.debug("{} is not the worker that blocks were saved of", rank);
        blocks.clearGuesses(rank.holderId());
        all.remove();
      } else if (entry.getValue().comparedBy(Identity.of(rank.worker()))) {
        all.remove();
      }
    }
  }

  /**
   * By what a worker is recognized.
   *
   * @param engine the engine's kind, empty for unknown
   * @param blockTokens the tokens of its block, 0 for unknown
   * @param models a hash of the names of its base models, 0 for unknown
   */
  private record Identity(String engine, int blockTokens, long models) {
    static Identity of(BlockIndexFile.Rank rank) {
      return new Identity(rank.engine(), rank.blockTokens(), rank.models());
    }

    static Identity of(Worker worker) {
      EngineKind engine = worker.engine();
      Integer blockTokens = worker.blockSize();
      String models =
          worker.models().stream()
              .filter(model -> !model.adapter())
              .map(ServedModel::id)
              .sorted()
              .collect(Collectors.joining("\n"));
      return new Identity(
          engine == EngineKind.UNKNOWN ? "" : engine.label(),
          blockTokens == null ? 0 : blockTokens,
          models.isEmpty() ? 0 : StableHash.of(models));
    }

    /** Whether both know something of which they differ. */
    boolean contradicts(Identity other) {
      boolean engines = engine.isEmpty() || other.engine.isEmpty() || engine.equals(other.engine);
      boolean sizes =
          blockTokens == 0 || other.blockTokens == 0 || blockTokens == other.blockTokens;
      boolean names = models == 0 || other.models == 0 || models == other.models;
      return !(engines && sizes && names);
    }

    /** Whether the other knows all that this one does. */
    boolean comparedBy(Identity other) {
      return (engine.isEmpty() || !other.engine.isEmpty())
          && (blockTokens == 0 || other.blockTokens != 0)
          && (models == 0 || other.models != 0);
    }
  }

  /** Writes what ranks hold; after the last news. */
  void save(Topology present) {
    List<BlockIndexFile.Rank> ranks = new ArrayList<>();
    int most =
        Math.min(
            BlockIndexFile.MOST_BLOCKS_OF_RANK,
            BlockIndexFile.MOST_BLOCKS / Math.max(1, present.ranks().size()));
    for (WorkerRank rank : present.ranks()) {
      HeldBlocks held = blocks.held(rank.holderId(), most);
      if (held.size() > 0) {
        Identity is = Identity.of(rank.worker());
        ranks.add(
            new BlockIndexFile.Rank(
                rank.worker().id().value(),
                rank.rank().orElse(-1),
                is.engine(),
                is.blockTokens(),
                is.models(),
                held));
      }
    }
    if (ranks.isEmpty() && !idle) {
      return; // whoever it tells of has not been seen: the next client may see them
    }
    try {
      SavedFile.replace(
          file,
          out -> BlockIndexFile.write(new BlockIndexFile.Content(clock.instant(), ranks), out));
    } catch (IOException e) {
      log.warn("The blocks of workers can't be written to {}", file, e);
    }
  }
}
