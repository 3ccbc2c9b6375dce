package dev.warmpath.fake.lab;

import java.util.List;

/**
 * A conversation: requests sent one after another, each when the one before is answered and its
 * delay is over.
 *
 * @param startMs when its first request is due in an open loop
 * @param requests the requests
 */
public record LabSession(double startMs, List<LabRequest> requests) {
  /** Copies {@code requests}. */
  public LabSession {
    requests = List.copyOf(requests);
  }
}
