package dev.warmpath.hash;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Hashes a prompt's blocks while its tokens come in. Every full block is hashed once, as soon as
 * its last token is known; {@link #state} remembers a place, and a chain forked from it hashes only
 * what comes after.
 *
 * <pre>{@code
 * BlockChain chain = scheme.newChain().append(systemPrompt).append(question);
 * ChainState turn = chain.state();
 * BlockHashes next = turn.fork().append(answer).append(followUp).hashes();
 * }</pre>
 *
 * <p>Mutable and not thread safe. {@link #state} and {@link #hashes} give immutable views that
 * later appends do not touch.
 */
public final class BlockChain {

  private static final int SLICE = 1024;

  private final HashScheme scheme;
  private final Retention retention;
  private final BlockHasher hasher;
  private final int stride;
  private final int window;
  private final int digestWords;
  private final long firstToken;

  private HashStore store;
  private int size;
  private final int[] tail;
  private int tailSize;

  /** The tokens after the last full block when one of them is beyond 32 bits; else null. */
  private long @Nullable [] wideTail;

  private @Nullable PendingExtras extras;
  private boolean open = true;

  BlockChain(HashScheme scheme, Retention retention, byte @Nullable [] link, long firstToken) {
    this.scheme = scheme;
    this.retention = retention;
    this.hasher = scheme.newHasher(link);
    this.stride = scheme.blockTokens();
    this.window = stride + scheme.lookAhead();
    this.digestWords = digestWords(scheme, retention);
    this.firstToken = firstToken;
    this.store = HashStore.empty(1 + (scheme.hasLocalHashes() ? 1 : 0) + digestWords);
    this.tail = new int[window];
  }

  BlockChain(ChainState state) {
    this.scheme = state.scheme();
    this.retention = state.hashes.retention();
    this.hasher = scheme.newHasher(state.link);
    this.stride = scheme.blockTokens();
    this.window = stride + scheme.lookAhead();
    this.digestWords = digestWords(scheme, retention);
    this.firstToken = state.firstToken;
    this.store = state.hashes.store();
    this.size = state.hashes.size();
    this.tail = Arrays.copyOf(state.tail, window);
    this.tailSize = state.tail.length;
    this.wideTail = state.wideTail;
    this.extras = state.extras == null ? null : state.extras.copy();
  }

  private static int digestWords(HashScheme scheme, Retention retention) {
    int bytes = scheme.digestBytes();
    return retention == Retention.DIGESTS && bytes > Long.BYTES ? bytes / Long.BYTES : 0;
  }

  /** The scheme of the chain. */
  public HashScheme scheme() {
    return scheme;
  }

  /** Number of full blocks hashed so far. */
  public int blocks() {
    return size;
  }

  /** Position in the prompt: tokens appended, those before a resumed chain included. */
  public long tokens() {
    return hashedTokens() + (wideTail == null ? tailSize : wideTail.length);
  }

  private long hashedTokens() {
    return firstToken + (long) size * stride;
  }

  /**
   * Adds something that blocks to come cover besides their tokens.
   *
   * @return this
   * @throws IllegalStateException if a block it belongs to is hashed already
   */
  public BlockChain add(BlockExtra extra) {
    requireOpen();
    long hashed = hashedTokens();
    boolean late;
    if (extra instanceof MultimodalItem item) {
      if (size == 0 && item.end() <= hashed) {
        return this; // lies before the place where the chain was resumed
      }
      late = size > 0 && item.offset() < hashed;
    } else {
      long block =
          extra instanceof PromptEmbeds embeds ? embeds.block() : ((ExtraKeys) extra).block();
      late = block < hashed / stride;
    }
    if (late) {
      throw new IllegalStateException(
          "the blocks up to token " + hashed + " are hashed already, without this");
    }
    if (extras == null) {
      extras = new PendingExtras(scheme.oneOpenItem());
    }
    extras.add(extra);
    return this;
  }

  /**
   * Appends tokens.
   *
   * @param tokens token ids, read as unsigned 32-bit numbers
   * @return this
   * @throws UnreproducibleHashException if a block's hash depends on what a client can't know; the
   *     chain then takes no more tokens but keeps the hashes before that block
   */
  public BlockChain append(int[] tokens) {
    return append(tokens, 0, tokens.length);
  }

  /**
   * Appends the tokens from {@code from} up to, but without, {@code to}. Otherwise as {@link
   * #append(int[])}.
   *
   * @return this
   */
  public BlockChain append(int[] tokens, int from, int to) {
    Objects.checkFromToIndex(from, to, tokens.length);
    requireOpen();
    if (wideTail != null) {
      long[] wide = new long[to - from];
      for (int i = 0; i < wide.length; i++) {
        wide[i] = Integer.toUnsignedLong(tokens[from + i]);
      }
      return append(wide);
    }
    long available = (long) tailSize + to - from;
    if (available < window) {
      keepTail(tokens, from, to);
      return this;
    }
    claim((int) ((available - (window - stride)) / stride));
    open = false;
    int at = from;
    if (tailSize > 0) {
      int missing = window - tailSize;
      System.arraycopy(tokens, from, tail, tailSize, missing);
      hash(tail, 0);
      at = from + missing - (window - stride);
      tailSize = 0;
    }
    for (; to - at >= window; at += stride) {
      hash(tokens, at);
    }
    keepTail(tokens, at, to);
    open = true;
    return this;
  }

  /**
   * Appends tokens whose ids may be beyond 32 bits.
   *
   * @param tokens token ids
   * @return this
   * @throws TokenRangeException if an id is negative or too wide for the scheme; nothing is
   *     appended
   * @throws UnreproducibleHashException as {@link #append(int[])} does
   */
  public BlockChain append(long[] tokens) {
    requireOpen();
    long maximum = scheme.maxTokenId();
    boolean wide = wideTail != null;
    for (int i = 0; i < tokens.length; i++) {
      if (tokens[i] < 0 || tokens[i] > maximum) {
        throw new TokenRangeException(scheme.name(), tokens() + i, tokens[i], maximum);
      }
      wide |= tokens[i] > HashScheme.UNSIGNED_INT_MAX;
    }
    if (wide) {
      appendWide(tokens);
      return this;
    }
    int[] narrow = new int[Math.min(tokens.length, SLICE)];
    for (int from = 0; from < tokens.length; from += SLICE) {
      int count = Math.min(SLICE, tokens.length - from);
      for (int i = 0; i < count; i++) {
        narrow[i] = (int) tokens[from + i];
      }
      append(narrow, 0, count);
    }
    return this;
  }

  /** The rare case of ids beyond 32 bits; blocks without one are hashed as always. */
  private void appendWide(long[] tokens) {
    long[] all = pendingTokens(tokens);
    tailSize = 0;
    wideTail = null;
    int at = 0;
    open = false;
    int[] narrow = new int[window];
    for (; all.length - at >= window; at += stride) {
      claim(1);
      if (narrow(all, at, window, narrow)) {
        hash(narrow, 0);
      } else {
        hasher.nextWide(all, at, stride, hashedTokens(), takeExtras());
        record();
      }
    }
    int rest = all.length - at;
    if (narrow(all, at, rest, tail)) {
      tailSize = rest;
    } else {
      wideTail = Arrays.copyOfRange(all, at, all.length);
    }
    open = true;
  }

  /** The tokens after the last full block, followed by more. */
  private long[] pendingTokens(long[] more) {
    long[] wide = wideTail;
    int pending = wide == null ? tailSize : wide.length;
    long[] all = new long[pending + more.length];
    for (int i = 0; i < pending; i++) {
      all[i] = wide == null ? Integer.toUnsignedLong(tail[i]) : wide[i];
    }
    System.arraycopy(more, 0, all, pending, more.length);
    return all;
  }

  /** Copies ids to 32 bits; false if one does not fit. */
  private static boolean narrow(long[] tokens, int from, int count, int[] target) {
    for (int i = 0; i < count; i++) {
      if (tokens[from + i] > HashScheme.UNSIGNED_INT_MAX) {
        return false;
      }
      target[i] = (int) tokens[from + i];
    }
    return true;
  }

  /**
   * Ends the prompt: no more tokens can be appended. Where the scheme was made to hash a partial
   * tail, the tokens after the last full block become a last, short block; otherwise they are
   * without a hash, as in the engines.
   *
   * @return this
   */
  public BlockChain finish() {
    requireOpen();
    open = false;
    int lookAhead = window - stride;
    if (scheme.hashesPartialTail()) {
      long[] wide = wideTail;
      int count = (wide == null ? tailSize : wide.length) - lookAhead;
      if (count > 0) {
        claim(1);
        if (wide == null) {
          hasher.next(tail, 0, count, hashedTokens(), takeExtras());
        } else {
          hasher.nextWide(wide, 0, count, hashedTokens(), takeExtras());
        }
        record();
      }
    }
    return this;
  }

  /** The hashes of the full blocks so far. */
  public BlockHashes hashes() {
    return new BlockHashes(scheme, retention, store, size);
  }

  /**
   * Remembers this place. The chain may go on; the state does not follow.
   *
   * @throws IllegalStateException if the chain has ended
   */
  public ChainState state() {
    requireOpen();
    return new ChainState(
        hashes(),
        hasher.link(),
        firstToken,
        wideTail == null ? Arrays.copyOf(tail, tailSize) : new int[0],
        wideTail,
        extras == null || extras.isEmpty() ? null : extras.copy());
  }

  private void claim(int blocks) {
    store = store.claim(size, blocks);
  }

  private void keepTail(int[] tokens, int from, int to) {
    System.arraycopy(tokens, from, tail, tailSize, to - from);
    tailSize += to - from;
  }

  private void hash(int[] tokens, int from) {
    hasher.next(tokens, from, stride, hashedTokens(), takeExtras());
    record();
  }

  private @Nullable BlockExtras takeExtras() {
    if (extras == null || extras.isEmpty()) {
      return null;
    }
    long begin = hashedTokens();
    return extras.take((int) (begin / stride), begin, begin + stride);
  }

  private void record() {
    long[] words = store.words;
    int at = (size - store.from) * store.width;
    words[at++] = hasher.reported();
    if (scheme.hasLocalHashes()) {
      words[at++] = hasher.local();
    }
    for (int word = 0; word < digestWords; word++) {
      words[at++] = hasher.digestWord(word);
    }
    size++;
  }

  private void requireOpen() {
    if (!open) {
      throw new IllegalStateException("the chain has ended");
    }
  }

  @Override
  public String toString() {
    return "token " + tokens() + ", " + size + " blocks of " + scheme;
  }
}
