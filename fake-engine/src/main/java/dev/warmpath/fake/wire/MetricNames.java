package dev.warmpath.fake.wire;

/** Which generation of Prometheus series is exported. */
public enum MetricNames {
  /** {@code sglang:…}, and vLLM's v1 names ({@code vllm:kv_cache_usage_perc}). */
  CURRENT,
  /** {@code sglang_…}, and vLLM's v0 names ({@code vllm:gpu_cache_usage_perc}). */
  ALTERNATE,
  /** None: no {@code /metrics} on SGLang, no engine series on vLLM, none on ATOM. */
  ABSENT
}
