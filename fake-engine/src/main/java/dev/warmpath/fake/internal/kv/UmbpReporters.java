package dev.warmpath.fake.internal.kv;

import dev.warmpath.fake.kv.KvEventSettings;
import dev.warmpath.fake.live.RankObserver;
import dev.warmpath.fake.umbp.UmbpReporting;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What tells a UMBP master of all ranks of one engine life. Thread-safe; the life closes it. */
public final class UmbpReporters implements AutoCloseable {
  private final RootKeys keys = new RootKeys();
  private final ManagedChannel channel;
  private final List<UmbpReporter> ranks = new ArrayList<>();

  /**
   * Begins to tell.
   *
   * @param engine the engine
   * @param reporting whom, and as whom; with a node id
   * @param events settles the hashes, or null for the engine's usual ones
   */
  public UmbpReporters(
      KvEventSockets.Engine engine, UmbpReporting reporting, @Nullable KvEventSettings events) {
    this.channel =
        Grpc.newChannelBuilder(reporting.master(), InsecureChannelCredentials.create()).build();
    KvEventSettings hashing = events == null ? KvEventSettings.builder().build() : events;
    String node = Objects.requireNonNull(reporting.nodeId(), "nodeId");
    for (int rank = 0; rank < engine.ranks(); rank++) {
      ranks.add(
          new UmbpReporter(
              engine.kind(),
              engine.ranks() == 1 ? node : node + "#" + rank,
              channel,
              new CacheChanges(engine.kind(), KvEventSockets.blocks(engine, hashing, keys::get))));
    }
  }

  /**
   * Returns what tells of a rank.
   *
   * @param rank the data-parallel rank
   * @return its observer
   */
  public RankObserver observer(int rank) {
    return ranks.get(rank);
  }

  /**
   * Tells what a request separates its cache by; to be called before it is submitted.
   *
   * @param firstBlock the scheduler's number of its first block
   * @param of its keys
   */
  public void separate(long firstBlock, RequestKeys of) {
    keys.put(firstBlock, of);
  }

  @Override
  public void close() {
    channel.shutdownNow(); // ends a call that is under way
    ranks.forEach(UmbpReporter::close);
  }
}
