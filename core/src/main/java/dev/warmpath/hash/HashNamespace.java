package dev.warmpath.hash;

/**
 * Where block hashes may be compared: equal hashes mean equal prefixes only within one namespace.
 *
 * <p>A namespace covers the scheme, the block size, everything the engine was configured with that
 * its hashes depend on (seed, encoding of multimodal keys, speculative decoding), and the keys of
 * one request (LoRA adapter, cache salt, extra key). Texts enter as fingerprints only, so a
 * namespace can be logged and kept without giving a tenant's salt away. Two namespaces compare by
 * value.
 *
 * <p>The keys of a request come in two kinds. Those the engine hashes are told apart by the hashes
 * themselves, and the engine publishes the hashes of all its requests side by side: {@link
 * #published()} is the namespace of its KV events. Those the engine leaves out of the hash (ATOM
 * hashes neither salt nor adapter) stay in the namespace, because nothing else would keep one
 * tenant's blocks from matching another's.
 *
 * @param scheme name of the hash scheme
 * @param blockTokens tokens of the prompt that one block advances by
 * @param engine fingerprint of the engine's configuration
 * @param unhashed fingerprint of the request keys that the hashes do not cover
 * @param hashed fingerprint of the request keys that the hashes cover, 0 in a published namespace
 */
public record HashNamespace(
    String scheme, int blockTokens, long engine, long unhashed, long hashed) {

  /** The wider namespace in which the engine publishes: request keys it hashes are dropped. */
  public HashNamespace published() {
    return hashed == 0 ? this : new HashNamespace(scheme, blockTokens, engine, unhashed, 0);
  }

  /**
   * A 64-bit fingerprint of the whole namespace. An index that keeps several namespaces in one
   * table mixes it into its keys.
   */
  public long fingerprint() {
    long mixed = XxHash.xxh3().hashLongLongToLong(engine, unhashed);
    return XxHash.xxh3().hashLongLongToLong(mixed, hashed);
  }

  /**
   * Whether hashes of {@code other} may be compared with those of this namespace: both are the
   * same, or one is the published namespace of the other.
   */
  public boolean comparableWith(HashNamespace other) {
    if (hashed == 0 || other.hashed == 0) {
      return published().equals(other.published());
    }
    return equals(other);
  }

  /**
   * Demands that hashes of {@code other} may be compared with those of this namespace.
   *
   * @throws NamespaceMismatchException if they may not
   */
  public void requireComparable(HashNamespace other) {
    if (!comparableWith(other)) {
      throw new NamespaceMismatchException(this, other);
    }
  }

  @Override
  public String toString() {
    return scheme + "/" + blockTokens + "#" + Long.toHexString(fingerprint());
  }
}
