package dev.warmpath.fake.lab;

import dev.warmpath.api.FailurePhase;
import dev.warmpath.transport.Exchange;
import dev.warmpath.transport.HealthReport;
import dev.warmpath.transport.LoadReport;
import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.transport.ProbeReport;
import dev.warmpath.transport.Transport;
import dev.warmpath.transport.TransportException;
import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerRole;
import java.time.Duration;
import java.util.Set;

/**
 * A network between router clients and simulated workers, in virtual time. Requests and tokens take
 * half of the round trip each way; a question about health or load is answered with the state at
 * the end of its round trip.
 */
final class LabTransport implements Transport {
  private final LabNetwork network;

  LabTransport(LabNetwork network) {
    this.network = network;
  }

  @Override
  public Set<String> schemes() {
    return Set.of("http");
  }

  @Override
  public Exchange open(OutboundRequest request) {
    if (request.admin()) {
      // An abort: its request ends with the connection, which goes when this is answered.
      return new LabCall(network, () -> {});
    }
    if (request.target().worker().role() == WorkerRole.DECODE && !request.stream()) {
      // All requests of users are streamed; this one is only to let go what prefill holds.
      return new LabCall(network, () -> network.handoffs().release(request));
    }
    return new LabExchange(network, request);
  }

  private LabWorker worker(Worker worker) throws TransportException {
    LabWorker found = network.worker(worker.id().value());
    if (found == null || !found.up()) {
      throw new TransportException(
          TransportException.Kind.CONNECT,
          FailurePhase.CONNECT,
          0,
          found == null ? "no such worker in the lab" : "connection refused",
          null);
    }
    return found;
  }

  @Override
  public ProbeReport probe(Worker worker, Duration timeout) throws TransportException {
    return new ProbeReport(worker(worker).capabilities(), null);
  }

  @Override
  public HealthReport health(Worker worker, Duration timeout) throws TransportException {
    worker(worker);
    return new HealthReport(true, "200");
  }

  @Override
  public LoadReport load(Worker worker, Duration timeout) throws TransportException {
    return worker(worker).load();
  }

  /** Nothing to free: the network is the run's. */
  @Override
  public void close() {}
}
