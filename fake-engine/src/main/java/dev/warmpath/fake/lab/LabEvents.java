package dev.warmpath.fake.lab;

import dev.warmpath.fake.scheduler.BlockSource;
import dev.warmpath.fake.scheduler.EngineRequest;
import dev.warmpath.fake.study.StudyRank;
import dev.warmpath.fake.virtual.EventKind;
import dev.warmpath.fake.virtual.VirtualTime;
import dev.warmpath.index.KvBatch;
import dev.warmpath.index.KvEvent;
import dev.warmpath.index.KvStream;
import dev.warmpath.index.Tier;
import dev.warmpath.index.kv.KvSubscriber;
import dev.warmpath.worker.WorkerRank;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the fleet study's workers tell of their caches, and every client hears so much later. No
 * event is lost. Whoever begins to listen to a worker that has told something already can't have it
 * again, as from an engine without replays.
 */
final class LabEvents {
  private static final long NOTHING = -1;

  private final VirtualTime time;
  private final double delayMs;
  private final Map<String, Teller> tellers = new HashMap<>();

  /** The block before each, of all that were ever sent. */
  private final Map<Long, Long> parents = new HashMap<>();

  private int tokensPerBlock;

  LabEvents(VirtualTime time, double delayMs) {
    this.time = time;
    this.delayMs = delayMs;
  }

  /** Who tells of a worker's cache. */
  Teller teller(String url) {
    return tellers.computeIfAbsent(url, fresh -> new Teller());
  }

  /** One client's way to hear all of them. */
  KvSubscriber subscriber() {
    return new Ears();
  }

  /** One worker's side. */
  final class Teller implements StudyRank.CacheListener {
    private final List<KvStream> heardBy = new ArrayList<>();
    private List<KvEvent> open = new ArrayList<>();
    private double openedMs = Double.NaN;
    private long sequence;

    /** A request arrives, whose blocks may be told of from now on. */
    void submitted(EngineRequest request) {
      if (request.content() instanceof BlockSource.Stretches stretches) {
        tokensPerBlock = stretches.tokensPerId();
        long before = NOTHING;
        for (long id : stretches.ids()) {
          parents.putIfAbsent(id, before);
          before = id;
        }
      }
    }

    /** A new process counts its batches anew. */
    void restarted() {
      time.schedule(time.nowMs() + delayMs, EventKind.ARRIVAL, () -> sequence = 0);
    }

    @Override
    public void changed(long block, boolean stored) {
      if (openedMs != time.nowMs()) {
        List<KvEvent> batch = new ArrayList<>();
        open = batch;
        openedMs = time.nowMs();
        time.schedule(openedMs + delayMs, EventKind.ARRIVAL, () -> deliver(batch));
      }
      open.add(event(block, stored));
    }

    private KvEvent event(long block, boolean stored) {
      long[] hashes = {block};
      if (!stored) {
        return new KvEvent.Removed(hashes, Tier.HBM);
      }
      Long parent = parents.get(block);
      if (parent == null) {
        throw new IllegalStateException("block " + block + " is stored and was never sent");
      }
      return new KvEvent.Stored(
          hashes,
          parent == NOTHING,
          parent,
          LabRequest.tokens(block, tokensPerBlock),
          Tier.HBM,
          KvEvent.KvKeys.NONE);
    }

    private void deliver(List<KvEvent> events) {
      KvBatch batch = new KvBatch(sequence++, time.nowMs() / 1e3, events);
      for (KvStream stream : heardBy) {
        if (stream.live(batch)) {
          stream.replayFailed();
        }
      }
    }

    private void join(KvStream stream) {
      heardBy.add(stream);
      if (!stream.joined()) {
        return;
      }
      if (sequence > 0) {
        stream.replayFailed();
      } else if (stream.replayEnded()) {
        stream.replayFailed();
      }
    }
  }

  private final class Ears implements KvSubscriber {
    @Override
    public @Nullable String endpoint(WorkerRank rank) {
      String url = rank.worker().id().value();
      return tellers.containsKey(url) ? url : null;
    }

    @Override
    public Subscription subscribe(WorkerRank rank, KvStream stream) {
      Teller teller = teller(rank.worker().id().value());
      teller.join(stream);
      return new Subscription() {
        @Override
        public boolean connected() {
          return true;
        }

        @Override
        public long malformed() {
          return 0;
        }

        @Override
        public void close() {
          teller.heardBy.remove(stream);
        }
      };
    }

    /** Subscriptions are closed by the client before. */
    @Override
    public void close() {}
  }
}
