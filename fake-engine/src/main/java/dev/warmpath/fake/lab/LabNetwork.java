package dev.warmpath.fake.lab;

import dev.warmpath.api.RouterRequest;
import dev.warmpath.fake.handoff.HandoffOrder;
import dev.warmpath.fake.virtual.VirtualTime;
import dev.warmpath.prompt.Prompt;
import dev.warmpath.prompt.PromptSource;
import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.worker.WorkerRole;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What connects the parts of a run: its time, its workers by address, and the requests under way by
 * number. Requests carry their number in a header; the prompt source and the workers look it up.
 */
final class LabNetwork implements PromptSource {
  /** Names a request of the run. */
  static final String REQUEST_HEADER = "X-Lab-Request";

  private static final class UnderWay {
    private final LabRequest request;
    private @Nullable Prompt prompt;

    UnderWay(LabRequest request) {
      this.request = request;
    }
  }

  private final VirtualTime time;
  private final Turns turns;
  private final double roundTripMs;
  private final LabHandoffs handoffs;
  private final Map<String, LabWorker> workers = new LinkedHashMap<>();
  private final Map<String, UnderWay> underWay = new HashMap<>();
  private final IdentityHashMap<Prompt, LabRequest> prompts = new IdentityHashMap<>();
  private long engineRequests;
  private boolean watched;

  LabNetwork(
      VirtualTime time,
      Turns turns,
      List<LabWorker> fleet,
      double roundTripMs,
      HandoffOrder order) {
    this.handoffs = new LabHandoffs(time, order);
    this.time = time;
    this.turns = turns;
    this.roundTripMs = roundTripMs;
    fleet.forEach(worker -> workers.put(worker.url(), worker));
  }

  VirtualTime time() {
    return time;
  }

  Turns turns() {
    return turns;
  }

  double roundTripMs() {
    return roundTripMs;
  }

  @Nullable LabWorker worker(String url) {
    return workers.get(url);
  }

  /** All workers, by address. */
  Map<String, LabWorker> workers() {
    return workers;
  }

  /** Those that compute prompts. */
  List<LabWorker> computing() {
    return workers.values().stream().filter(worker -> worker.role() != WorkerRole.DECODE).toList();
  }

  long nextEngineRequest() {
    return ++engineRequests;
  }

  void begin(String number, LabRequest request) {
    underWay.put(number, new UnderWay(request));
  }

  void end(String number) {
    UnderWay ended = underWay.remove(number);
    if (ended != null && ended.prompt != null) {
      prompts.remove(ended.prompt);
    }
  }

  private UnderWay underWay(@Nullable String number) {
    UnderWay found = number == null ? null : underWay.get(number);
    if (found == null) {
      throw new IllegalStateException("request " + number + " is not under way");
    }
    return found;
  }

  LabRequest request(@Nullable String number) {
    return underWay(number).request;
  }

  /** How a request reaches its worker. */
  LabLeg leg(OutboundRequest outbound, LabRequest request, WorkerRole role) {
    return role == WorkerRole.REGULAR ? LabLeg.alone(request) : handoffs.leg(outbound, request);
  }

  /** The handoffs between its prefill and decode workers. */
  LabHandoffs handoffs() {
    return handoffs;
  }

  /** From now on ranks keep account of what is under way to them, for who knows everything. */
  void watch() {
    watched = true;
  }

  /** Whether anybody reads those accounts. */
  boolean watched() {
    return watched;
  }

  /** The request of a prompt, for who may know everything. */
  LabRequest request(Prompt prompt) {
    LabRequest request = prompts.get(prompt);
    if (request == null) {
      throw new IllegalStateException("the prompt's request is not under way");
    }
    return request;
  }

  @Override
  public Prompt read(RouterRequest request) {
    UnderWay read = underWay(request.headers().get(REQUEST_HEADER));
    Prompt prompt = read.request.prompt();
    read.prompt = prompt;
    prompts.put(prompt, read.request);
    return prompt;
  }
}
