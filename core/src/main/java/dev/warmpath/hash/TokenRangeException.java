package dev.warmpath.hash;

/** A token id is negative or too wide for the hash scheme. */
public final class TokenRangeException extends IllegalArgumentException {

  TokenRangeException(String scheme, long position, long tokenId, long maximum) {
    super(
        "token id "
            + tokenId
            + " at position "
            + position
            + " is outside 0.."
            + maximum
            + ", which is all that "
            + scheme
            + " hashes");
  }
}
