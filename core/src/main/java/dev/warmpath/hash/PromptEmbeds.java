package dev.warmpath.hash;

/**
 * The digest that vLLM hashes into a block whose tokens are given as embeddings: SHA-256 over the
 * block's embedding tensor. A client can only know it if it holds the tensors.
 *
 * @param block index of the block in the prompt
 * @param sha256Hex the digest, 64 hexadecimal characters
 */
public record PromptEmbeds(int block, String sha256Hex) implements BlockExtra {

  /** Checks the digest's form. */
  public PromptEmbeds {
    if (block < 0) {
      throw new IllegalArgumentException("block " + block);
    }
    Bytes.fromHex("the digest of prompt embeddings", sha256Hex, Sha256.BYTES);
  }
}
