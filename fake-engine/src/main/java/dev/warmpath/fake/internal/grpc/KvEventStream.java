package dev.warmpath.fake.internal.grpc;

import dev.warmpath.fake.internal.kv.EngineBlock;
import dev.warmpath.fake.internal.kv.KvBatch;
import dev.warmpath.fake.internal.kv.KvBatchListener;
import dev.warmpath.fake.internal.surface.Life;
import dev.warmpath.fake.kv.KvEventSettings;
import dev.warmpath.fake.scheduler.StorageTier;
import dev.warmpath.proto.smg.KvBlock;
import dev.warmpath.proto.smg.KvBlocksRemoved;
import dev.warmpath.proto.smg.KvBlocksStored;
import dev.warmpath.proto.smg.KvCacheCleared;
import dev.warmpath.proto.smg.KvCacheEvent;
import dev.warmpath.proto.smg.KvEventBatch;
import io.grpc.Status;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.Queue;

/**
 * smg's {@code SubscribeKvEvents}: the batches that the first rank publishes over ZeroMQ, from the
 * next one on and under the same numbers. A subscriber that does not read loses what comes after
 * the publisher's high-water mark, as it would there.
 */
final class KvEventStream implements KvBatchListener {
  private final GrpcCall<KvEventBatch> call;
  private final int highWaterMark;
  private final Queue<KvEventBatch> waiting = new ArrayDeque<>();
  private volatile Runnable end = () -> {};
  private long eventIds;

  private KvEventStream(GrpcCall<KvEventBatch> call, int highWaterMark) {
    this.call = call;
    this.highWaterMark = highWaterMark;
  }

  /** Serves a subscription, whose headers tell the client that it hears everything from here on. */
  static void serve(Life life, GrpcCall<KvEventBatch> call) {
    KvEventSettings settings = life.settings().kvEvents();
    if (settings == null) {
      call.fail(Status.UNIMPLEMENTED.withDescription("KV cache events not enabled"));
      return;
    }
    KvEventStream stream = new KvEventStream(call, settings.highWaterMark());
    Runnable end = Objects.requireNonNull(life.listen(stream));
    call.onDisconnect(end);
    stream.end = end;
    call.onReady(stream::drain);
    call.begin();
  }

  @Override
  public synchronized void published(KvBatch batch) {
    if (waiting.isEmpty() && call.isReady()) {
      call.send(message(batch));
    } else if (waiting.size() < highWaterMark) {
      waiting.add(message(batch));
    }
  }

  private synchronized void drain() {
    while (!waiting.isEmpty() && call.isReady()) {
      call.send(waiting.remove());
    }
  }

  @Override
  public void over() {
    end.run();
    call.fail(Status.UNAVAILABLE.withDescription("the publisher is gone"));
  }

  private KvEventBatch message(KvBatch batch) {
    KvEventBatch.Builder message =
        KvEventBatch.newBuilder()
            .setSequenceNumber(batch.number())
            .setTimestamp(batch.epochSeconds())
            .setDpRank(batch.rank());
    for (KvBatch.Change change : batch.changes()) {
      message.addEvents(event(change));
    }
    return message.build();
  }

  /** The ids begin at 1 and are the stream's own. */
  private KvCacheEvent event(KvBatch.Change change) {
    KvCacheEvent.Builder event = KvCacheEvent.newBuilder().setEventId(++eventIds);
    if (change instanceof KvBatch.Stored stored) {
      event.setStored(stored(stored));
    } else if (change instanceof KvBatch.Removed removed) {
      event.setRemoved(removed(removed));
    } else {
      event.setCleared(KvCacheCleared.getDefaultInstance());
    }
    return event.build();
  }

  private static KvBlocksStored stored(KvBatch.Stored change) {
    KvBlocksStored.Builder stored = KvBlocksStored.newBuilder();
    EngineBlock parent = change.blocks().get(0).parent();
    if (parent != null) {
      stored.setParentBlockHash(parent.reported());
    }
    for (EngineBlock block : change.blocks()) {
      KvBlock.Builder told =
          KvBlock.newBuilder().setBlockHash(block.reported()).setBlockSize(block.tokens().length);
      for (int token : block.tokens()) {
        told.addTokenIds(token);
      }
      if (change.tier() != StorageTier.DEVICE) {
        told.setCacheLevel(level(change.tier()));
      }
      stored.addBlocks(told);
    }
    return stored.build();
  }

  private static KvBlocksRemoved removed(KvBatch.Removed change) {
    KvBlocksRemoved.Builder removed =
        KvBlocksRemoved.newBuilder().addBlockHashes(change.block().reported());
    if (change.tier() != StorageTier.DEVICE) {
      removed.setCacheLevel(level(change.tier()));
    }
    return removed.build();
  }

  private static int level(StorageTier tier) {
    return switch (tier) {
      case DEVICE -> 0;
      case HOST -> 1;
      case DISK -> 2;
      case EXTERNAL -> 3;
    };
  }
}
