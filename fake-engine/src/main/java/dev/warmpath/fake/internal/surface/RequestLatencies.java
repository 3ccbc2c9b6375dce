package dev.warmpath.fake.internal.surface;

/** How long the requests of one rank waited for their tokens, as its metrics show it. */
final class RequestLatencies {
  final Histogram firstToken =
      new Histogram(
          0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20,
          40, 80, 160, 640, 2560);
  final Histogram interToken =
      new Histogram(
          0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40,
          80);
  final Histogram endToEnd =
      new Histogram(
          0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920,
          7680);

  /** Writes the three under a prefix; older engines call the second one otherwise. */
  void write(Prometheus text, String prefix, String labels, boolean older) {
    text.histogram(prefix + "time_to_first_token_seconds", labels, firstToken);
    text.histogram(
        prefix + (older ? "time_per_output_token_seconds" : "inter_token_latency_seconds"),
        labels,
        interToken);
    text.histogram(prefix + "e2e_request_latency_seconds", labels, endToEnd);
  }
}
