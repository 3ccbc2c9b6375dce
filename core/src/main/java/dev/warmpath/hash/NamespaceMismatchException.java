package dev.warmpath.hash;

/** Hashes of two namespaces met where they must not be compared. */
public final class NamespaceMismatchException extends IllegalArgumentException {

  NamespaceMismatchException(HashNamespace expected, HashNamespace actual) {
    super("block hashes of " + actual + " cannot be compared with those of " + expected);
  }
}
