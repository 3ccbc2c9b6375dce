package dev.warmpath.okhttp;

import dev.warmpath.transport.Exchange;
import dev.warmpath.transport.HealthReport;
import dev.warmpath.transport.LoadReport;
import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.transport.ProbeReport;
import dev.warmpath.transport.Transport;
import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerCapabilities;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/** Carries requests as the transport behind it does, and asks workers nothing on its own. */
record QuietTransport(Transport behind) implements Transport {
  @Override
  public Set<String> schemes() {
    return behind.schemes();
  }

  @Override
  public Exchange open(OutboundRequest request) {
    return behind.open(request);
  }

  @Override
  public ProbeReport probe(Worker worker, Duration timeout) {
    return new ProbeReport(WorkerCapabilities.UNKNOWN, null);
  }

  @Override
  public HealthReport health(Worker worker, Duration timeout) {
    return new HealthReport(true, "");
  }

  @Override
  public LoadReport load(Worker worker, Duration timeout) {
    return new LoadReport(List.of(), "none", null, Double.NaN);
  }

  @Override
  public void close() {
    behind.close();
  }
}
