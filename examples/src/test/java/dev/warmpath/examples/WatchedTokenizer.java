package dev.warmpath.examples;

import dev.warmpath.prompt.tokenizer.AddedToken;
import dev.warmpath.prompt.tokenizer.Detokenizer;
import dev.warmpath.prompt.tokenizer.SegmentVisitor;
import dev.warmpath.prompt.tokenizer.TokenBuffer;
import dev.warmpath.prompt.tokenizer.Tokenizer;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A tokenizer that remembers which threads had it read prompts, which go through it segment by
 * segment, and answers, which it reads as whole texts.
 */
final class WatchedTokenizer implements Tokenizer {
  private final Tokenizer inner;
  private final Set<String> threads = ConcurrentHashMap.newKeySet();
  private final Set<String> answerThreads = ConcurrentHashMap.newKeySet();

  WatchedTokenizer(Tokenizer inner) {
    this.inner = inner;
  }

  /** The names of the threads that read prompts. */
  Set<String> threads() {
    return Set.copyOf(threads);
  }

  /** The names of the threads that read answers. */
  Set<String> answerThreads() {
    return Set.copyOf(answerThreads);
  }

  /** Remembers anew. */
  void forget() {
    threads.clear();
    answerThreads.clear();
  }

  @Override
  public void cut(byte[] utf8, int from, int to, SegmentVisitor visitor) {
    threads.add(Thread.currentThread().getName());
    inner.cut(utf8, from, to, visitor);
  }

  @Override
  public void encodeSegment(byte[] utf8, int from, int to, boolean first, TokenBuffer out) {
    threads.add(Thread.currentThread().getName());
    inner.encodeSegment(utf8, from, to, first, out);
  }

  @Override
  public int[] encode(String text, boolean addSpecialTokens) {
    answerThreads.add(Thread.currentThread().getName());
    return inner.encode(text, addSpecialTokens);
  }

  @Override
  public boolean positionSensitive() {
    return inner.positionSensitive();
  }

  @Override
  public int[] prefixTokens() {
    return inner.prefixTokens();
  }

  @Override
  public int[] suffixTokens() {
    return inner.suffixTokens();
  }

  @Override
  public Detokenizer detokenizer(boolean skipSpecialTokens) {
    return inner.detokenizer(skipSpecialTokens);
  }

  @Override
  public OptionalInt tokenId(String token) {
    return inner.tokenId(token);
  }

  @Override
  public String token(int id) {
    return inner.token(id);
  }

  @Override
  public int vocabularySize() {
    return inner.vocabularySize();
  }

  @Override
  public List<AddedToken> addedTokens() {
    return inner.addedTokens();
  }
}
