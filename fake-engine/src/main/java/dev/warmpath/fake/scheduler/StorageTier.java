package dev.warmpath.fake.scheduler;

/** Where a cached block lies. */
public enum StorageTier {
  /** The accelerator's memory. */
  DEVICE,
  /** Pinned memory of the host. */
  HOST,
  /** A disk of the host. */
  DISK,
  /** A store that several workers share. */
  EXTERNAL
}
