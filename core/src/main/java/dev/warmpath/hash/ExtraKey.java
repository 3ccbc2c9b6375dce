package dev.warmpath.hash;

/** One of the extra keys that vLLM hashes with a block, as its KV events list them. */
public sealed interface ExtraKey {

  /**
   * A bare text: an adapter's name, a cache salt, or an item's identifier in older builds.
   *
   * @param text the text
   */
  record Text(String text) implements ExtraKey {}

  /**
   * A multimodal item with its place.
   *
   * @param identifier the item's identifier
   * @param offset the item's offset less the block's, negative where the item began earlier
   */
  record Placed(String identifier, long offset) implements ExtraKey {}

  /**
   * Raw bytes: the digest of a block's prompt embeddings.
   *
   * @param hex the bytes as hexadecimal text
   */
  record Raw(String hex) implements ExtraKey {

    /** Checks the text's form. */
    public Raw {
      Bytes.fromHex("an extra key", hex, -1);
    }
  }
}
