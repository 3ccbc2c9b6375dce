package dev.warmpath.fake.wire;

/**
 * When {@code usage.prompt_tokens_details.cached_tokens} is filled in: SGLang's {@code
 * --enable-cache-report}, vLLM's {@code --enable-prompt-tokens-details}. ATOM has no such switch.
 */
public enum CacheReport {
  /** Never, as without the engine's switch. */
  OFF,
  /** Only when something was cached; older versions leave a zero out. */
  NON_ZERO,
  /** Always. */
  ALWAYS
}
