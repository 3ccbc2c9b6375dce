package dev.warmpath.fake.scheduler;

/** When the cache events and forward-pass metrics of a pass can be seen from outside. */
public enum EventVisibility {
  /** When the pass begins, before its modelled time has gone by (vLLM). */
  PASS_START,
  /** When the pass ends (SGLang). */
  PASS_END
}
