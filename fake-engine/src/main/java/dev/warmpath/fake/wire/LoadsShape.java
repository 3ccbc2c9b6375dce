package dev.warmpath.fake.wire;

/** Which version of SGLang's {@code /v1/loads} is served. */
public enum LoadsShape {
  /** One entry per rank and nothing computed over them (v0.5.13 and later). */
  CURRENT,
  /** With {@code dp_rank_count} and {@code aggregate} (January to May 2026). */
  AGGREGATE,
  /** The endpoint does not exist; only {@code /get_load} does. */
  ABSENT
}
