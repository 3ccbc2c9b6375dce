package dev.warmpath.fake.lab;

import dev.warmpath.api.FailurePhase;
import dev.warmpath.api.KnowledgeInfo;
import dev.warmpath.api.KnowledgeNeeds;
import dev.warmpath.fake.kdn.TransferQueue;
import dev.warmpath.fake.kdn.TransferQueue.Transfer;
import dev.warmpath.fake.load.TraceSession;
import dev.warmpath.fake.scheduler.EngineRequest;
import dev.warmpath.fake.virtual.EventKind;
import dev.warmpath.fake.virtual.VirtualTimer;
import dev.warmpath.knowledge.InjectionSettings;
import dev.warmpath.knowledge.KnowledgeIds;
import dev.warmpath.knowledge.KnowledgeLink;
import dev.warmpath.knowledge.KnowledgeRouting;
import dev.warmpath.knowledge.KnowledgeSettings;
import dev.warmpath.knowledge.KvCost;
import dev.warmpath.knowledge.NodeLoad;
import dev.warmpath.transport.KnowledgeTransport;
import dev.warmpath.transport.TransportException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * The knowledge delivery nodes of a run, in its virtual time, and each client's way to them: a
 * transport below the product's own {@link KnowledgeRouting}, as {@link LabTransport} is one below
 * its dispatch.
 */
final class LabKdns implements KnowledgeTransport {
  /** The mocker's tokens have no text; in English there are about four characters to one. */
  private static final int CHARACTERS_OF_TOKEN = 4;

  private static final int PORT = 9101;

  /** The longest wait for KV; a node is left alone after it. */
  private static final Duration KV_TIMEOUT = Duration.ofSeconds(5);

  private final LabKnowledge settings;
  private final LabNetwork network;

  /** An engine counts the last block of a prompt as not cached, though it is. */
  private final int blockTokens;

  private final List<TransferQueue> links = new ArrayList<>();
  private final List<Map<String, Document>> documents = new ArrayList<>();
  private final List<IdentityHashMap<Transfer, Runnable>> waiting = new ArrayList<>();
  private final Map<Integer, VirtualTimer> timers = new HashMap<>();
  private final Map<String, String> ids = new HashMap<>();
  private long held;
  private long transfers;
  private long bytes;
  private long recomputed;
  private long repeats;

  /** A piece of knowledge; its text stands for tokens that nobody knows. */
  private record Document(LabRequest prompt, String text, boolean ready) {}

  /** Creates nodes that have nothing. */
  LabKdns(LabKnowledge settings, LabNetwork network, int blockTokens) {
    this.settings = settings;
    this.blockTokens = blockTokens;
    this.network = network;
    for (int node = 0; node < settings.nodes(); node++) {
      links.add(new TransferQueue(settings.network()));
      documents.add(new LinkedHashMap<>());
      waiting.add(new IdentityHashMap<>());
    }
  }

  private static String name(int node) {
    return "kdn-" + node;
  }

  /** The number in {@code kdn-3} or {@code kdn-3:9101}. */
  private static int number(String node) {
    int end = node.indexOf(':');
    return Integer.parseInt(node.substring("kdn-".length(), end < 0 ? node.length() : end));
  }

  /** Gives the document that a session begins with to the nodes that are to have it. */
  void learn(TraceSession session) {
    LabRequest prompt = LabRequest.of(session, 0, 1);
    int tokens = prompt.documentTokens();
    if (tokens == 0 || ids.containsKey(prompt.document())) {
      return;
    }
    StringBuilder text = new StringBuilder(prompt.document());
    while (text.length() < tokens * CHARACTERS_OF_TOKEN) {
      text.append('.');
    }
    String id = KnowledgeIds.of(text.toString());
    ids.put(prompt.document(), id);
    Document document =
        new Document(prompt, text.toString(), settings.kv().reusableTokens(tokens) > 0);
    int first = Math.floorMod(id.hashCode(), settings.nodes());
    for (int copy = 0; copy < settings.copies(); copy++) {
      documents.get((first + copy) % settings.nodes()).put(id, document);
    }
  }

  /** What a request says it needs. */
  KnowledgeNeeds needs(LabRequest request) {
    String id = ids.get(request.document());
    return id == null ? KnowledgeNeeds.NONE : KnowledgeNeeds.ids(id);
  }

  /** A client's knowledge routing, which hears of nodes' load as often as they tell. */
  KnowledgeRouting routing(LabClock clock) {
    KnowledgeRouting.Builder builder =
        KnowledgeRouting.builder()
            .transport(this)
            .scheduler(clock)
            .executor(clock::startTurn)
            .settings(KnowledgeSettings.builder().order(settings.order()).build())
            .injection(
                InjectionSettings.builder()
                    .way(settings.injection())
                    .kvTimeout(KV_TIMEOUT)
                    .cost(
                        KvCost.DEFAULT
                            .withBytesPerToken((double) settings.kv().bytesPerToken())
                            .withLoad(0, 0)
                            .withMarginMillis(0))
                    .build());
    for (int node = 0; node < settings.nodes(); node++) {
      builder.node(name(node), URI.create("http://" + name(node) + ":" + PORT));
      for (int rack = 0; rack < settings.nodes(); rack++) {
        boolean near = rack == node;
        builder.link(
            rack(rack),
            name(node),
            KnowledgeLink.measured(
                near ? settings.nearMbps() : settings.farMbps(),
                near ? settings.nearMs() : settings.farMs()));
      }
    }
    KnowledgeRouting routing = builder.build();
    heartbeat(routing);
    return routing;
  }

  private void heartbeat(KnowledgeRouting routing) {
    for (int node = 0; node < settings.nodes(); node++) {
      TransferQueue link = links.get(node);
      boolean unused =
          routing
              .registry()
              .heartbeat(
                  name(node),
                  new NodeLoad(
                      OptionalLong.empty(),
                      OptionalDouble.empty(),
                      OptionalLong.of(link.pending()),
                      OptionalLong.of(link.active()),
                      OptionalDouble.of(link.queueMillis())));
    }
    at(network.time().nowMs() + settings.heartbeatMs(), () -> heartbeat(routing));
  }

  /** The workers near a node are one target: a group, in which the rest of a chain chooses. */
  private static String rack(int number) {
    return "rack-" + number;
  }

  /** How a worker says where KV is asked for, and whose it is. */
  String spec(String worker) {
    int rack = LabFleet.number(worker) % settings.nodes();
    return worker + ";knowledge-inject=" + worker + ";knowledge-target=" + rack(rack);
  }

  @Override
  public List<Piece> snapshot(URI node, int atMost, Duration timeout) {
    List<Piece> pieces = new ArrayList<>();
    documents
        .get(number(node.getHost()))
        .forEach(
            (id, document) -> pieces.add(new Piece(id, document.text.length(), document.ready)));
    return pieces;
  }

  @Override
  public Map<String, String> texts(URI node, Collection<String> asked, Duration timeout) {
    Map<String, String> texts = new HashMap<>();
    for (String id : asked) {
      Document document = documents.get(number(node.getHost())).get(id);
      if (document != null) {
        texts.put(id, document.text);
      }
    }
    return texts;
  }

  /** One delivery that a turn waits for. */
  private static final class Delivery {
    private boolean arrived;
    private Turns.@Nullable Turn waits;
  }

  /** Waits on a turn of its own, in virtual time. */
  @Override
  public KvInjected injectKv(URI instance, KvOrder order, Duration timeout)
      throws TransportException {
    int node = number(order.node());
    String id = order.ids().get(0);
    Document document = documents.get(node).get(id);
    LabWorker worker = network.worker(instance.toString());
    if (document == null || worker == null || !document.ready) {
      return new KvInjected(List.of(), List.of(), order.ids(), 0);
    }
    int tokens = document.prompt.documentTokens();
    EngineRequest prefix = document.prompt.document(settings.kv().reusableTokens(tokens));
    if (worker.rank(0).cachedTokens(prefix) >= prefix.promptTokens() - blockTokens) {
      repeats++;
      return new KvInjected(List.of(id), List.of(), List.of(), 0); // it asks for what it lacks
    }
    long size = settings.kv().bytes(tokens);
    double wayMs = settings.wayMs(node, LabFleet.number(worker.url()), size);
    transfers++;
    bytes += size;
    Delivery delivery = new Delivery();
    Runnable arrived =
        () -> {
          worker.rank(0).store(prefix);
          at(
              network.time().nowMs() + network.roundTripMs(),
              () -> {
                delivery.arrived = true;
                wake(delivery);
              });
        };
    advance(node);
    Transfer transfer = links.get(node).offer(size, network.time().nowMs());
    waiting.get(node).put(transfer, () -> at(network.time().nowMs() + wayMs, arrived));
    advance(node);
    VirtualTimer late = at(network.time().nowMs() + timeout.toNanos() / 1e6, () -> wake(delivery));
    Turns.Turn turn = network.turns().current();
    delivery.waits = turn;
    network.turns().park(turn);
    late.cancel();
    if (!delivery.arrived) {
      throw new TransportException(
          TransportException.Kind.DEADLINE, FailurePhase.AWAIT_HEADERS, 0, "in the lab", null);
    }
    return new KvInjected(List.of(id), List.of(), List.of(), size);
  }

  private void wake(Delivery delivery) {
    Turns.Turn turn = delivery.waits;
    if (turn != null) {
      delivery.waits = null;
      network.turns().resume(turn);
    }
  }

  private void advance(int node) {
    TransferQueue link = links.get(node);
    for (Transfer ended : link.advance(network.time().nowMs())) {
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
    return network.time().schedule(Math.max(ms, network.time().nowMs()), EventKind.ARRIVAL, action);
  }

  /** Counts what became of a request's document. */
  void count(@Nullable KnowledgeInfo info) {
    if (info == null) {
      return;
    }
    if (info.injected().equals("kv") && info.transferredBytes() == 0) {
      held++;
    } else if (!info.injected().equals("kv")) {
      recomputed++;
    }
  }

  LabTransfers transfers() {
    return new LabTransfers(held, transfers, bytes, recomputed, repeats);
  }

  /** Nothing to free: the nodes are the run's. */
  @Override
  public void close() {}
}
