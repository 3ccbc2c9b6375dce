package dev.warmpath.fake.internal.kv;

import dev.warmpath.fake.internal.Threads;
import dev.warmpath.fake.live.KvEvent;
import dev.warmpath.fake.live.RankObserver;
import dev.warmpath.fake.scheduler.StorageTier;
import dev.warmpath.proto.umbp.ClientStatus;
import dev.warmpath.proto.umbp.HeartbeatRequest;
import dev.warmpath.proto.umbp.RegisterClientRequest;
import dev.warmpath.proto.umbp.ReportExternalKvBlocksRequest;
import dev.warmpath.proto.umbp.RevokeAllExternalKvBlocksAtTierRequest;
import dev.warmpath.proto.umbp.RevokeExternalKvBlocksRequest;
import dev.warmpath.proto.umbp.TierType;
import dev.warmpath.proto.umbp.UMBPMasterGrpc;
import dev.warmpath.proto.umbp.UMBPMasterGrpc.UMBPMasterBlockingStub;
import dev.warmpath.worker.EngineKind;
import io.grpc.Channel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells a UMBP master of one rank's cache, on a thread of its own: registers the rank as a node,
 * keeps it alive, and reports what comes and goes by the keys of the engine's feeder. What the
 * master does not take is not told again, as a real feeder does not; a node that the master has
 * forgotten registers anew, and what it had reported stays forgotten.
 */
final class UmbpReporter implements RankObserver, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(UmbpReporter.class);
  private static final Duration CALL_TIMEOUT = Duration.ofSeconds(3);
  private static final Duration FIRST_HEARTBEAT = Duration.ofSeconds(1);
  private static final String FULL_ATTENTION = "00000000";

  private final EngineKind kind;
  private final String nodeId;
  private final Channel channel;
  private final CacheChanges changes;
  private final LinkedBlockingQueue<List<KvEvent>> queue = new LinkedBlockingQueue<>();
  private final Thread thread;
  private volatile boolean closed;
  private boolean registered;
  private long heartbeatNanos = FIRST_HEARTBEAT.toNanos();

  UmbpReporter(EngineKind kind, String nodeId, Channel channel, CacheChanges changes) {
    this.kind = kind;
    this.nodeId = nodeId;
    this.channel = channel;
    this.changes = changes;
    this.thread = new Thread(this::run, "fake-umbp-" + nodeId);
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public void cacheChanged(List<KvEvent> events) {
    queue.add(events);
  }

  private void run() {
    register();
    long next = System.nanoTime() + heartbeatNanos;
    while (!closed) {
      try {
        List<KvEvent> events = queue.poll(next - System.nanoTime(), TimeUnit.NANOSECONDS);
        if (events != null) {
          changes.of(events).forEach(this::tell);
        } else if (!closed) {
          heartbeat();
          next = System.nanoTime() + heartbeatNanos;
        }
      } catch (InterruptedException e) {
        return; // nobody interrupts it
      } catch (StatusRuntimeException e) {
        LOG.debug("node {} could not tell the master", nodeId, e);
      }
    }
  }

  private UMBPMasterBlockingStub master() {
    return UMBPMasterGrpc.newBlockingStub(channel)
        .withDeadlineAfter(CALL_TIMEOUT.toNanos(), TimeUnit.NANOSECONDS);
  }

  /**
   * A node that is alive already is taken for this one, as a worker that has restarted takes it.
   */
  private void register() {
    try {
      long millis =
          master()
              .registerClient(RegisterClientRequest.newBuilder().setNodeId(nodeId).build())
              .getHeartbeatIntervalMs();
      heartbeatNanos = Math.max(1, TimeUnit.MILLISECONDS.toNanos(millis));
      registered = true;
    } catch (StatusRuntimeException e) {
      registered = e.getStatus().getCode() == Status.Code.ALREADY_EXISTS;
      LOG.debug("node {} could not register", nodeId, e);
    }
  }

  private void heartbeat() {
    ClientStatus status =
        registered
            ? master()
                .heartbeat(HeartbeatRequest.newBuilder().setNodeId(nodeId).build())
                .getStatus()
            : ClientStatus.CLIENT_STATUS_UNKNOWN;
    if (status == ClientStatus.CLIENT_STATUS_UNKNOWN) {
      register();
    }
  }

  private void tell(KvBatch.Change change) {
    if (change instanceof KvBatch.Stored stored) {
      var unused =
          master()
              .reportExternalKvBlocks(
                  ReportExternalKvBlocksRequest.newBuilder()
                      .setNodeId(nodeId)
                      .setTier(tier(stored.tier()))
                      .addAllHashes(stored.blocks().stream().map(this::key).toList())
                      .build());
    } else if (change instanceof KvBatch.Removed removed) {
      var unused =
          master()
              .revokeExternalKvBlocks(
                  RevokeExternalKvBlocksRequest.newBuilder()
                      .setNodeId(nodeId)
                      .setTier(tier(removed.tier()))
                      .addHashes(key(removed.block()))
                      .build());
    } else if (change instanceof KvBatch.Cleared) {
      clear(TierType.TIER_HBM);
      clear(TierType.TIER_DRAM);
    }
  }

  private void clear(TierType tier) {
    var unused =
        master()
            .revokeAllExternalKvBlocksAtTier(
                RevokeAllExternalKvBlocksAtTierRequest.newBuilder()
                    .setNodeId(nodeId)
                    .setTier(tier)
                    .build());
  }

  private String key(EngineBlock block) {
    return switch (kind) {
      case VLLM -> HexFormat.of().formatHex(block.digest()) + FULL_ATTENTION;
      case ATOM -> Long.toUnsignedString(block.reported());
      case SGLANG, UNKNOWN -> Long.toString(block.reported());
    };
  }

  /** SGLang's feeder takes all that is not on the accelerator for host memory. */
  private TierType tier(StorageTier tier) {
    return switch (tier) {
      case DEVICE -> TierType.TIER_HBM;
      case HOST -> TierType.TIER_DRAM;
      case DISK, EXTERNAL -> kind == EngineKind.SGLANG ? TierType.TIER_DRAM : TierType.TIER_SSD;
    };
  }

  /** Ends the thread; what is queued is dropped and the node left as it is, as by a crash. */
  @Override
  public void close() {
    closed = true;
    queue.add(List.of());
    Threads.join(thread);
  }
}
