package dev.warmpath.index;

import java.util.Locale;

/** Where a worker keeps a KV block, best first. */
public enum Tier {
  /** The accelerator's own memory: the block is usable at once. */
  HBM(1),
  /** The host's memory. */
  DRAM(1 << 1),
  /** A disk, or whatever else stands below the host's memory. */
  SSD(1 << 2);

  /** The tier's bit in a {@link Holding}. */
  final int bit;

  private final String label = name().toLowerCase(Locale.ROOT);

  Tier(int bit) {
    this.bit = bit;
  }

  /** The tier as decisions show it. */
  public String label() {
    return label;
  }
}
