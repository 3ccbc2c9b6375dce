package dev.warmpath.index;

/** A dispatch as {@link ByteRadixTree} keeps it; a withdrawal also gives ages back. */
final class ByteSpeculation extends Speculation {
  private static final byte[] FORGOTTEN = {};

  final PrefixNamespace namespace;
  final int offset;
  final int length;
  final long holderId;
  final long tokens;

  // The fields below belong to the tree's writer.
  byte[] prompt;
  long sequence;
  int generation;
  int missing;

  private final ByteRadixTree tree;

  ByteSpeculation(
      ByteRadixTree tree,
      PrefixNamespace namespace,
      byte[] prompt,
      int offset,
      int length,
      long holderId,
      long tokens) {
    this.tree = tree;
    this.namespace = namespace;
    this.prompt = prompt;
    this.offset = offset;
    this.length = length;
    this.holderId = holderId;
    this.tokens = tokens;
  }

  @Override
  void confirmed() {
    tree.confirm(this);
  }

  @Override
  void withdrawn() {
    tree.withdraw(this);
  }

  /** The share of the prompt's tokens that the holder did not hold at the dispatch. */
  long missingTokens() {
    return length == 0 ? 0 : tokens * missing / length;
  }

  /** The writer's: lets go of the prompt. */
  void forget() {
    prompt = FORGOTTEN;
  }
}
