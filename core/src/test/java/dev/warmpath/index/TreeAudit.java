package dev.warmpath.index;

import static org.assertj.core.api.Assertions.assertThat;

/** Checks what must hold of every published tree, and that the books agree with it. */
final class TreeAudit {
  private final HolderTable holders;
  private long nodes;
  private long bytes;
  private long entries;

  private final int oldestLiving;

  private TreeAudit(HolderTable holders, int oldestLiving) {
    this.holders = holders;
    this.oldestLiving = oldestLiving;
  }

  static void audit(ByteRadixTree tree) {
    audit(tree.core, tree.tick());
  }

  static void audit(RadixCore core, int tick) {
    TreeAudit audit = new TreeAudit(core.publishedHolders(), tick - core.longestAge);
    audit.visit(core.publishedRoot(), null);
    ByteRadixTree.Stats stats = core.stats(0);
    assertThat(stats.nodes()).as("nodes").isEqualTo(audit.nodes);
    assertThat(stats.entries()).as("entries").isEqualTo(audit.entries);
    assertThat(stats.bytes())
        .as("bytes")
        .isEqualTo(audit.bytes + HolderTable.bytes(audit.holders.slots()))
        .isLessThanOrEqualTo(stats.budgetBytes());
  }

  /** Returns the tick of the oldest entry. */
  private int visit(Node node, Node parent) {
    nodes++;
    bytes += node.bytes();
    entries += node.holders;
    assertThat(node.holders).isEqualTo(node.entries.length / 2);
    assertThat(node.label.length == 0).as("only the root has no label").isEqualTo(parent == null);
    assertThat(node.label.length).isLessThanOrEqualTo(TreeWriter.LONGEST_LABEL);
    assertThat(node.mergeable(TreeWriter.LONGEST_LABEL)).as("says the same as its child").isFalse();
    if (node.holders == 0) {
      assertThat(node.isRoot() || node.children() > 0).as("a namespace has prompts").isTrue();
      assertThat(parent == null || parent.holders == 0).as("prompts have holders").isTrue();
    }
    for (int at = 0; at < node.entries.length; at += 2) {
      int slot = Entries.slot(node.entries[at]);
      assertThat(at == 0 || Entries.slot(node.entries[at - 2]) < slot).as("slots ascend").isTrue();
      if (parent != null && parent.holders > 0 && live(node, at)) {
        int above = Entries.find(parent.entries, slot);
        assertThat(above).as("the parent has the child's holders").isNotNegative();
        assertThat(live(parent, above)).isTrue();
        assertThat(parent.entries[above + 1])
            .as("a use of the child is one of its parent")
            .isGreaterThanOrEqualTo(node.entries[at + 1]);
      }
    }
    int oldest = Entries.oldest(node.entries);
    assertThat(node.oldestEntry).isLessThanOrEqualTo(oldest);
    Node before = null;
    for (int i = 0; i < node.children(); i++) {
      Node child = node.child(i);
      assertThat(before == null || before.label[0] < child.label[0]).as("labels ascend").isTrue();
      assertThat(node.child(child.label[0])).isSameAs(child);
      oldest = Math.min(oldest, visit(child, node));
      before = child;
    }
    assertThat(node.oldest).isLessThanOrEqualTo(oldest);
    return oldest;
  }

  private boolean live(Node node, int at) {
    long identity = node.entries[at];
    return Entries.generation(identity) == holders.generations[Entries.slot(identity)]
        && Entries.tick(node.entries[at + 1]) >= oldestLiving;
  }
}
