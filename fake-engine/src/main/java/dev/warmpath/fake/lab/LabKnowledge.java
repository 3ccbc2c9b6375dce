package dev.warmpath.fake.lab;

import dev.warmpath.api.KnowledgeInjection;
import dev.warmpath.fake.kdn.KdnNetwork;
import dev.warmpath.fake.kdn.KnowledgeKv;
import dev.warmpath.knowledge.StageOrder;
import java.util.Objects;

/**
 * Knowledge delivery nodes of a fleet: who has the KV of which document, and how far it has to go.
 * Worker {@code i} is near node {@code i} modulo their number and far from the others; each
 * document is on so many nodes, spread evenly.
 *
 * <p>The workers near a node are one target. Clients route and inject by the product's own {@link
 * dev.warmpath.knowledge.KnowledgeRouting}, whatever their policy; a worker that is to take KV
 * which it has is sent nothing. Bytes leave a node one transfer after the other and then take the
 * way to the worker, which no two transfers share.
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
 * @param injection how documents come to workers
 * @param order the order of the second stage's steps
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
    KnowledgeInjection injection,
    StageOrder order) {

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
          KnowledgeInjection.AUTO,
          StageOrder.DOCUMENTED);

  /** Checks the ranges. */
  public LabKnowledge {
    Objects.requireNonNull(network, "network");
    Objects.requireNonNull(kv, "kv");
    Objects.requireNonNull(injection, "injection");
    Objects.requireNonNull(order, "order");
    if (nodes < 1 || copies < 1 || copies > nodes) {
      throw new IllegalArgumentException("there is a node, and documents are on 1 to all of them");
    }
    if (!(nearMbps > 0 && farMbps > 0 && nearMs >= 0 && farMs >= 0 && heartbeatMs > 0)) {
      throw new IllegalArgumentException("bandwidths are above 0, times 0 or more");
    }
  }

  /**
   * Returns these with documents that come to workers in another way.
   *
   * @param value how
   * @return the copy
   */
  public LabKnowledge withInjection(KnowledgeInjection value) {
    return new LabKnowledge(
        nodes, network, kv, nearMbps, nearMs, farMbps, farMs, copies, heartbeatMs, value, order);
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
