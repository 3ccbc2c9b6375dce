package dev.warmpath.fake.lab;

import dev.warmpath.fake.kdn.KdnNetwork;
import dev.warmpath.fake.kdn.KnowledgeKv;
import java.util.Objects;

/**
 * Knowledge delivery nodes of a fleet: who has the KV of which document, and how far it has to go.
 * Worker {@code i} is near node {@code i} modulo their number and far from the others; each
 * document is on so many nodes, spread evenly.
 *
 * <p>A prompt that begins with a document has its KV sent to the chosen worker before it is sent
 * itself, unless the worker has it already. Bytes leave a node one transfer after the other and
 * then take the way to the worker, which no two transfers share.
 *
 * @param nodes how many nodes
 * @param network a node's link
 * @param kv how large KV is
 * @param nearMbps bandwidth of the way to a near worker
 * @param nearMs its latency
 * @param farMbps bandwidth of the way to a far worker
 * @param farMs its latency
 * @param copies how many nodes have a document
 * @param heartbeatMs how old what clients know of a node's load may be
 * @param injection when KV is sent
 * @param capacity requests that a worker is said to take at once; 0 where that is not known
 */
public record LabKnowledge(
    int nodes,
    KdnNetwork network,
    KnowledgeKv kv,
    double nearMbps,
    double nearMs,
    double farMbps,
    double farMs,
    int copies,
    double heartbeatMs,
    Injection injection,
    int capacity) {

  /** When KV is sent. */
  public enum Injection {
    /** Always, as CacheRoute's proxy does it. */
    KV,
    /** When it is expected to take less time than to compute it again. */
    AUTO,
    /** Never: documents are text. */
    TEXT
  }

  /**
   * Four nodes with 200 Gbit/s, of which each document is on one; 100 Gbit/s to near workers and 25
   * to far ones; KV of 0.096 MB a token, sent where that is faster.
   */
  public static final LabKnowledge DEFAULT =
      new LabKnowledge(
          4,
          new KdnNetwork(25_000, 0.8, 1, 0),
          KnowledgeKv.DEFAULT,
          100_000,
          0.05,
          25_000,
          1,
          1,
          5_000,
          Injection.AUTO,
          0);

  /** Checks the ranges. */
  public LabKnowledge {
    Objects.requireNonNull(network, "network");
    Objects.requireNonNull(kv, "kv");
    Objects.requireNonNull(injection, "injection");
    if (nodes < 1 || copies < 1 || copies > nodes || capacity < 0) {
      throw new IllegalArgumentException("there is a node, and documents are on 1 to all of them");
    }
    if (!(nearMbps > 0 && farMbps > 0 && nearMs >= 0 && farMs >= 0 && heartbeatMs > 0)) {
      throw new IllegalArgumentException("bandwidths are above 0, times 0 or more");
    }
  }

  /**
   * Returns these with KV that is sent at other times.
   *
   * @param value when
   * @return the copy
   */
  public LabKnowledge withInjection(Injection value) {
    return new LabKnowledge(
        nodes, network, kv, nearMbps, nearMs, farMbps, farMs, copies, heartbeatMs, value, capacity);
  }

  /** Milliseconds on the way between a node and a worker, for the bytes and their latency. */
  double wayMs(int node, int worker, long bytes) {
    boolean near = near(node, worker);
    return (near ? nearMs : farMs) + bytes * 8 / ((near ? nearMbps : farMbps) * 1_000);
  }

  boolean near(int node, int worker) {
    return worker % nodes == node;
  }
}
