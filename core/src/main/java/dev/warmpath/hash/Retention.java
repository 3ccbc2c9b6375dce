package dev.warmpath.hash;

/** What a {@link BlockChain} keeps of each block. */
public enum Retention {
  /**
   * The 64 reported bits (and Dynamo's local hash): what indexes compare. Eight or sixteen bytes a
   * block.
   */
  REPORTED,
  /** The whole digest as well, as storage keys and diagnosis need it. */
  DIGESTS
}
