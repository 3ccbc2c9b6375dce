package dev.warmpath.grpc.internal;

import dev.warmpath.transport.TransportException;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.Worker;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The services there are, and how to find out which a worker offers: each is asked in turn, those
 * of its configured engine only, and {@code UNIMPLEMENTED} means another. A worker's label {@code
 * grpc} names one and ends the search.
 */
public final class EngineServices {
  /** The label that names a worker's service. */
  public static final String LABEL = "grpc";

  /** In the order in which a worker is asked: smg's own, which replace the HTTP server, first. */
  private static final List<EngineService> ALL =
      List.of(new SglangScheduler(), new VllmEngine(), new SglangRuntime(), new VllmFrontEnd());

  private EngineServices() {}

  /** What a worker offers, and what it says of itself. */
  public record Found(EngineService service, ServiceReport report) {
    /** What requests need to know of its model. */
    public ModelFacts facts() {
      return report.facts();
    }
  }

  /** The services that a worker may offer, by what is configured of it. */
  public static List<EngineService> of(Worker worker) {
    String label = worker.spec().labels().get(LABEL);
    EngineKind engine = worker.spec().engine();
    List<EngineService> possible = new ArrayList<>();
    for (EngineService service : ALL) {
      if (label == null
          ? engine == null || engine == service.engine()
          : service.name().equals(label)) {
        possible.add(service);
      }
    }
    return possible;
  }

  /**
   * Asks a worker.
   *
   * @param known the service it offered before, which is asked first, or null
   * @throws TransportException when it can't be asked, or offers none of them
   */
  public static Found find(ControlCalls calls, Worker worker, @Nullable EngineService known)
      throws TransportException {
    List<EngineService> possible = new ArrayList<>(of(worker));
    if (known != null && possible.remove(known)) {
      possible.add(0, known);
    }
    for (EngineService service : possible) {
      ServiceReport report = service.probe(calls, worker);
      if (report != null) {
        return new Found(service, report);
      }
    }
    throw Statuses.notUnderstood(
        "it offers none of the gRPC services "
            + ALL.stream().map(EngineService::name).toList()
            + " that are possible by its engine and label");
  }
}
