package dev.warmpath.fake.scheduler;

import org.jspecify.annotations.Nullable;

/**
 * One request's progress on SGLang: {@code computed <= pages * pageSize} and {@code computed <=
 * length}. Unlike on vLLM a generated token's KV is there as soon as the token is, but for the last
 * one, which is never computed.
 */
final class RadixSequence {
  final EngineRequest request;
  final BlockHashes hashes;

  /** What it emits most of the time. */
  final EngineEffect.Output oneToken;

  /** How many tokens it will generate; less than requested where the pool or the context ends. */
  final int outputTokens;

  /** Tokens generated so far; they survive a retraction. */
  int generated;

  /** Tokens whose KV is in the pool. */
  int computed;

  /** End of the sequence's pages in the tree, locked unless it is the root. */
  RadixNode prefix;

  /** Pages behind those, outside of the tree. */
  int ownPages;

  /** Whether it was ever admitted. */
  boolean admitted;

  /** Whether it lost its pages and waits to be admitted again. */
  boolean retracted;

  /** What brings its pages back from a lower tier while it stands beside the queue, or null. */
  RadixOffload.@Nullable SwapIn swapIn;

  /** Whether its prompt's KV came from a source. */
  boolean arrived;

  /** Whether its end was reported, and only its KV is still here. */
  boolean ended;

  RadixSequence(EngineRequest request, int outputTokens, int pageSize, RadixNode root) {
    this.request = request;
    this.hashes = new BlockHashes(request, pageSize);
    this.oneToken = new EngineEffect.Output(request.id(), 1, null);
    this.outputTokens = outputTokens;
    this.prefix = root;
  }

  long id() {
    return request.id();
  }

  int length() {
    return request.promptTokens() + generated;
  }

  int remainingOutput() {
    return outputTokens - generated;
  }

  /** Pages that it holds, shared ones included. */
  int pages() {
    return prefix.end + ownPages;
  }

  /** Whether a part of its prompt is computed and the rest is not. */
  boolean begun() {
    return computed > 0 && computed < length();
  }
}
