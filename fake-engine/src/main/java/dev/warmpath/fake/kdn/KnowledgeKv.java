package dev.warmpath.fake.kdn;

/**
 * How large the KV of a text is, as CacheRoute's LMCache settings make it.
 *
 * @param chunkTokens KV is kept in chunks of so many tokens, and the last one only if it is full
 * @param bytesPerToken size of a token's KV on the link
 */
public record KnowledgeKv(int chunkTokens, long bytesPerToken) {

  /** LMCache's chunks of 256 tokens, and 0.096 MB for a token. */
  public static final KnowledgeKv DEFAULT = new KnowledgeKv(256, 96_000);

  /** Refuses chunks of nothing. */
  public KnowledgeKv {
    if (chunkTokens < 1 || bytesPerToken < 0) {
      throw new IllegalArgumentException("chunks need a token or more, tokens 0 bytes or more");
    }
  }

  /**
   * Returns how many chunks there are of a prompt.
   *
   * @param tokens its length
   * @return full chunks
   */
  public int chunks(int tokens) {
    return tokens / chunkTokens;
  }

  /**
   * Returns how many tokens of a prompt have KV that can be delivered.
   *
   * @param tokens its length
   * @return those in full chunks
   */
  public int reusableTokens(int tokens) {
    return chunks(tokens) * chunkTokens;
  }

  /**
   * Returns what has to be sent for a prompt.
   *
   * @param tokens its length
   * @return bytes
   */
  public long bytes(int tokens) {
    return reusableTokens(tokens) * bytesPerToken;
  }
}
