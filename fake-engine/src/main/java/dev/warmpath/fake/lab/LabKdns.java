package dev.warmpath.fake.lab;

import dev.warmpath.fake.kdn.TransferQueue;
import dev.warmpath.fake.kdn.TransferQueue.Transfer;
import dev.warmpath.fake.load.TraceSession;
import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.fake.virtual.EventKind;
import dev.warmpath.fake.virtual.VirtualTime;
import dev.warmpath.fake.virtual.VirtualTimer;
import dev.warmpath.knowledge.KnowledgeCatalogue;
import dev.warmpath.knowledge.KnowledgeIds;
import dev.warmpath.knowledge.KnowledgeItem;
import dev.warmpath.knowledge.KnowledgeLink;
import dev.warmpath.knowledge.KnowledgeNode;
import dev.warmpath.knowledge.NodeLoad;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** The knowledge delivery nodes of a run, in its virtual time. */
final class LabKdns {
  /** Nobody's prompt is so short that its characters matter; a token is about four. */
  private static final int CHARACTERS_OF_TOKEN = 4;

  private final LabKnowledge settings;
  private final VirtualTime time;
  private final LatencyModel timing;
  private final double roundTripMs;
  private final List<TransferQueue> links = new ArrayList<>();
  private final List<Map<String, KnowledgeItem>> items = new ArrayList<>();
  private final List<IdentityHashMap<Transfer, Runnable>> waiting = new ArrayList<>();
  private final Map<Integer, VirtualTimer> timers = new HashMap<>();
  private final Map<String, String> ids = new HashMap<>();
  private final IdentityHashMap<LabRequest, String> chosen = new IdentityHashMap<>();
  private @Nullable KnowledgeCatalogue catalogue;
  private double catalogueMs;
  private int turn;
  private long held;
  private long transfers;
  private long bytes;
  private long recomputed;

  /** Creates nodes that have nothing. */
  LabKdns(LabKnowledge settings, VirtualTime time, LabSettings of) {
    this.settings = settings;
    this.time = time;
    this.timing = of.timing();
    this.roundTripMs = of.roundTripMs();
    for (int node = 0; node < settings.nodes(); node++) {
      links.add(new TransferQueue(settings.network()));
      items.add(new HashMap<>());
      waiting.add(new IdentityHashMap<>());
    }
  }

  /** Gives the document that a session begins with to the nodes that are to have it. */
  void learn(TraceSession session) {
    String name = session.turns().get(0).program();
    int tokens = session.systemTokens();
    if (tokens == 0 || ids.containsKey(name)) {
      return;
    }
    String id = KnowledgeIds.of(name);
    ids.put(name, id);
    int first = Math.floorMod(id.hashCode(), settings.nodes());
    KnowledgeItem item =
        new KnowledgeItem(tokens * CHARACTERS_OF_TOKEN, settings.kv().reusableTokens(tokens) > 0);
    for (int copy = 0; copy < settings.copies(); copy++) {
      items.get((first + copy) % settings.nodes()).put(id, item);
    }
  }

  LabKnowledge settings() {
    return settings;
  }

  static String name(int node) {
    return "kdn-" + node;
  }

  /** The document's id in front of a prompt; empty where there is none. */
  List<String> wanted(LabRequest request) {
    String id = ids.get(request.document());
    return id == null ? List.of() : List.of(id);
  }

  /** The links of a worker, as it measured them. */
  Map<String, KnowledgeLink> linksOf(int worker) {
    Map<String, KnowledgeLink> of = new HashMap<>();
    for (int node = 0; node < settings.nodes(); node++) {
      boolean near = settings.near(node, worker);
      of.put(
          name(node),
          KnowledgeLink.measured(
              near ? settings.nearMbps() : settings.farMbps(),
              near ? settings.nearMs() : settings.farMs()));
    }
    return of;
  }

  /** What clients know of the nodes: what they have, and their load as of the last heartbeat. */
  KnowledgeCatalogue catalogue() {
    KnowledgeCatalogue known = catalogue;
    if (known == null || time.nowMs() - catalogueMs >= settings.heartbeatMs()) {
      List<KnowledgeNode> nodes = new ArrayList<>();
      for (int node = 0; node < settings.nodes(); node++) {
        TransferQueue link = links.get(node);
        nodes.add(
            new KnowledgeNode(
                name(node),
                KnowledgeNode.addressOf(name(node), 9101),
                items.get(node),
                new NodeLoad(
                    OptionalLong.empty(),
                    OptionalDouble.empty(),
                    OptionalLong.of(link.pending()),
                    OptionalLong.of(link.active()),
                    OptionalDouble.of(link.queueMillis())),
                false));
      }
      known = KnowledgeCatalogue.of(nodes);
      catalogue = known;
      catalogueMs = time.nowMs();
    }
    return known;
  }

  /** Remembers where a request's knowledge is to come from. */
  void choose(LabRequest request, String node) {
    chosen.put(request, node);
  }

  /** Brings a request's document to a worker if it should come as KV; then goes on. */
  void prepare(LabRequest request, String worker, LabRank rank, Runnable then) {
    int tokens = request.documentTokens();
    int reusable = settings.kv().reusableTokens(tokens);
    int node = reusable == 0 ? -1 : source(request);
    if (node < 0) {
      then.run();
      return;
    }
    int cached = rank.cachedTokens(request);
    if (cached >= reusable) {
      held++;
      then.run();
      return;
    }
    long size = settings.kv().bytes(tokens);
    int number = LabFleet.number(worker);
    double wayMs = settings.wayMs(node, number, size);
    if (!sends(node, size, wayMs, request.promptTokens() - cached, tokens - cached)) {
      recomputed++;
      then.run();
      return;
    }
    transfers++;
    bytes += size;
    Runnable arrived =
        () -> {
          rank.store(request.document(reusable));
          at(time.nowMs() + roundTripMs, then); // the client hears of it, and sends
        };
    TransferQueue link = links.get(node);
    advance(node);
    waiting.get(node).put(link.offer(size, time.nowMs()), () -> at(time.nowMs() + wayMs, arrived));
    advance(node);
  }

  /** Where a request's document comes from: the policy's choice, or whose turn it is. */
  private int source(LabRequest request) {
    String id = ids.get(request.document());
    String choice = chosen.remove(request);
    if (id == null) {
      return -1;
    }
    for (int i = 0; i < settings.nodes(); i++) {
      int node = choice == null ? (turn + i) % settings.nodes() : i;
      boolean meant = choice == null || choice.equals(name(node));
      if (meant && items.get(node).containsKey(id)) {
        if (choice == null) {
          turn = (node + 1) % settings.nodes();
        }
        return node;
      }
    }
    return -1;
  }

  /** By what a client can know: sizes, links, and how long transfers waited lately. */
  private boolean sends(int node, long size, double wayMs, int uncached, int saved) {
    return switch (settings.injection()) {
      case KV -> true;
      case TEXT -> false;
      case AUTO ->
          links.get(node).queueMillis() + settings.network().millis(size) + wayMs
              < timing.prefillMs(1, uncached, 0)
                  - timing.prefillMs(1, Math.max(1, uncached - saved), 0);
    };
  }

  private void advance(int node) {
    TransferQueue link = links.get(node);
    for (Transfer ended : link.advance(time.nowMs())) {
      Runnable next = waiting.get(node).remove(ended);
      if (next != null) {
        next.run();
      }
    }
    VirtualTimer planned = timers.remove(node);
    if (planned != null) {
      planned.cancel();
    }
    if (link.nextDeadlineMs() < Double.POSITIVE_INFINITY) {
      timers.put(node, at(link.nextDeadlineMs(), () -> advance(node)));
    }
  }

  private VirtualTimer at(double ms, Runnable action) {
    return time.schedule(Math.max(ms, time.nowMs()), EventKind.ARRIVAL, action);
  }

  LabTransfers transfers() {
    return new LabTransfers(held, transfers, bytes, recomputed);
  }
}
