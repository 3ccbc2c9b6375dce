package dev.warmpath.hash;

/**
 * How an engine reports a block's digest. The engines disagree on which end they keep and on the
 * sign, so this belongs to the scheme.
 */
public enum ReportedForm {
  /** The first eight digest bytes, big-endian, as a signed integer (SGLang KV events). */
  FIRST_64_SIGNED,
  /** The last eight digest bytes, big-endian, as an unsigned integer (vLLM KV events). */
  LAST_64_UNSIGNED,
  /** The digest is 64 bits wide and reported whole, unsigned (ATOM, Dynamo, llm-d). */
  WHOLE_64_UNSIGNED,
  /** The whole digest as lower-case hexadecimal text (SGLang HiCache storage keys). */
  HEX
}
