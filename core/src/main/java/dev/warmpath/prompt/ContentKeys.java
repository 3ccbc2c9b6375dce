package dev.warmpath.prompt;

import dev.warmpath.hash.BlockHashes;
import dev.warmpath.worker.StableHash;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * A prompt as a chain of 64-bit keys, by which independent clients agree on what two prompts share:
 * a key covers everything before it, and what separates prompts of different {@linkplain
 * Prompt#namespace namespaces} too. Equal in every client that reads the prompt in the same way,
 * and fixed for ever, since clients of different versions serve one fleet.
 *
 * <p>A prompt with blocks has a key for each {@link #BLOCK_TOKENS} tokens: the {@link
 * StableHash#pair} of its own chained hash there and the namespace's hash. Any other has one for
 * each {@link #BLOCK_BYTES} bytes of its text: from the namespace's hash on, {@code h = (h ^ word)
 * * 0x9e3779b97f4a7c15, h ^= h >>> 32} for each of the eight little-endian words, finished by
 * {@link StableHash#mix} where it is read. What is left over at the end has no key. Immutable.
 */
public final class ContentKeys {
  /** Tokens that a key covers more than the one before, where the prompt has blocks. */
  public static final int BLOCK_TOKENS = 64;

  /** Bytes that a key covers more than the one before, where it has not. */
  public static final int BLOCK_BYTES = 64;

  private static final int STEP = BLOCK_TOKENS / Prompt.CLIENT_BLOCK_TOKENS;
  private static final long MULTIPLIER = 0x9e3779b97f4a7c15L;
  private static final VarHandle WORDS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final @Nullable BlockHashes hashes;
  private final long[] chain;
  private final long namespace;
  private final int size;
  private final int tokens;
  private final double tokensPerKey;

  private ContentKeys(BlockHashes hashes, long namespace, int tokens) {
    this.hashes = hashes;
    this.chain = new long[0];
    this.namespace = namespace;
    this.size = hashes.size() / STEP;
    this.tokens = tokens;
    this.tokensPerKey = BLOCK_TOKENS;
  }

  private ContentKeys(byte[] bytes, long namespace, int tokens) {
    this.hashes = null;
    this.namespace = namespace;
    this.size = bytes.length / BLOCK_BYTES;
    this.chain = new long[size];
    this.tokens = tokens;
    this.tokensPerKey = bytes.length == 0 ? 0 : (double) tokens * BLOCK_BYTES / bytes.length;
    long state = namespace;
    for (int i = 0; i < size; i++) {
      for (int at = i * BLOCK_BYTES; at < (i + 1) * BLOCK_BYTES; at += Long.BYTES) {
        state = (state ^ (long) WORDS.get(bytes, at)) * MULTIPLIER;
        state ^= state >>> 32;
      }
      chain[i] = StableHash.mix(state);
    }
  }

  static ContentKeys of(Prompt prompt) {
    long namespace = StableHash.of(prompt.namespace());
    BlockHashes hashes = prompt.blocks();
    return hashes == null
        ? new ContentKeys(prompt.bytes(), namespace, prompt.tokens())
        : new ContentKeys(hashes, namespace, prompt.tokens());
  }

  /** How many there are; 0 for a prompt that is too short, or opaque. */
  public int size() {
    return size;
  }

  /** The i-th key, which covers all before it. */
  public long get(int i) {
    BlockHashes blocks = hashes;
    return blocks == null ? chain[i] : StableHash.pair(blocks.bits(STEP * i + STEP - 1), namespace);
  }

  /** The hash of the prompt's namespace. */
  public long namespace() {
    return namespace;
  }

  /** The prompt's tokens, by the client's own count. */
  public int tokens() {
    return tokens;
  }

  /** Prompt tokens that the first {@code keys} keys cover. */
  public int tokens(int keys) {
    return (int) Math.min(tokens, keys * tokensPerKey);
  }
}
