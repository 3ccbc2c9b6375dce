package dev.warmpath.okhttp.internal;

import dev.warmpath.okhttp.internal.HttpReader.Answer;
import dev.warmpath.okhttp.internal.HttpReader.Budget;
import dev.warmpath.transport.HealthReport;
import dev.warmpath.transport.LoadReport;
import dev.warmpath.transport.ProbeReport;
import dev.warmpath.transport.TransportException;
import dev.warmpath.worker.Worker;
import java.time.Duration;
import okhttp3.OkHttpClient;

/**
 * Asks workers what they are, whether they live, and how loaded they are. Thread safe; calls block.
 */
public final class WorkerTelemetry {
  private final HttpReader http;
  private final EngineProbe probe;
  private final LoadReader loads;

  /** Creates a reader over {@code client}, which stays its owner's. */
  public WorkerTelemetry(OkHttpClient client) {
    this.http = new HttpReader(client);
    this.probe = new EngineProbe(http);
    this.loads = new LoadReader(http);
  }

  /**
   * Finds out what a worker is.
   *
   * @throws TransportException when it can't be reached or answers nothing that is understood
   */
  public ProbeReport probe(Worker worker, Duration timeout) throws TransportException {
    return probe.probe(worker, new Budget(timeout));
  }

  /**
   * Asks {@code /health}: 200 is healthy. SGLang computes a token for it, which takes a second or
   * more.
   *
   * @throws TransportException when it can't be reached or does not answer in time
   */
  public HealthReport health(Worker worker, Duration timeout) throws TransportException {
    Answer answer = http.get(worker, "/health", new Budget(timeout));
    return new HealthReport(answer.ok(), "/health answers " + answer.status());
  }

  /**
   * Reads a worker's load.
   *
   * @throws TransportException when it can't be reached or what it says is not understood
   */
  public LoadReport load(Worker worker, Duration timeout) throws TransportException {
    return loads.read(worker, new Budget(timeout));
  }
}
