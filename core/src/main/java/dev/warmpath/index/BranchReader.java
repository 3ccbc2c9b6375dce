package dev.warmpath.index;

import dev.warmpath.prompt.ContentKeys;

/**
 * Walks a trie beside its one writer, without a lock and in at most as many steps as the prompt has
 * keys.
 *
 * <p>Whatever is written meanwhile: a way leads on to a node only once the stretch before it says
 * so, and the writer has the node ready before that. So how far a prompt is known is exact, for one
 * moment of the walk. Each stretch is one that stood there at a moment, keys, fork and children
 * together; of a deeper one that moment is later. Counts are written after what they count, and are
 * read before it: a stretch never counts prompts that left it in its middle. Beyond that they are
 * not of one moment: they are estimates, which a prompt more or less does not change.
 */
final class BranchReader {
  private final BranchTable table;
  private final BranchWriter writer;

  BranchReader(BranchTable table, BranchWriter writer) {
    this.table = table;
    this.writer = writer;
  }

  /** Overwrites {@code out} with a prompt's way. */
  void walk(ContentKeys keys, int tick, BranchPath out) {
    out.begin(tick);
    follow(keys, out);
    // Counted before any stretch is, so that read last it is never less than what one counts.
    out.end(writer.total(tick));
  }

  private void follow(ContentKeys keys, BranchPath out) {
    int size = Math.min(keys.size(), writer.longest);
    int at = 0;
    while (at < size) {
      BranchNode node = table.find(keys.get(at));
      if (node == null) {
        return;
      }
      long count = node.count;
      BranchNode.Shape shape = node.shape;
      if (shape.from != at) {
        return;
      }
      at += shape.shared(keys, size);
      out.add(count, shape, at, keys, size);
      boolean leaves = at < shape.to();
      if (leaves || (at < size && !shape.leadsTo(keys.get(at)))) {
        return;
      }
    }
  }
}
