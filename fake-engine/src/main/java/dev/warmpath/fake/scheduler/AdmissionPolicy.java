package dev.warmpath.fake.scheduler;

/** How much room a request must find before it is admitted. */
public enum AdmissionPolicy {
  /** Room for what it has now (vLLM). When outputs outgrow the pool, requests are preempted. */
  OPTIMISTIC,
  /**
   * Room for its prompt and its whole output, next to the same for every running request, as
   * TensorRT-LLM's {@code GUARANTEED_NO_EVICT}. Nothing is ever preempted.
   */
  GUARANTEED_NO_EVICT
}
