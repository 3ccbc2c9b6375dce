package dev.warmpath.hash;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Extras added to a chain whose blocks are not all hashed yet. */
final class PendingExtras {

  private final boolean oneOpenItem;
  private final List<MultimodalItem> items;
  private final List<PromptEmbeds> embeds;
  private final List<ExtraKeys> keys;

  /**
   * @param oneOpenItem how items that overlap each other are read, see {@link
   *     HashScheme#oneOpenItem}
   */
  PendingExtras(boolean oneOpenItem) {
    this(oneOpenItem, List.of(), List.of(), List.of());
  }

  private PendingExtras(
      boolean oneOpenItem,
      List<MultimodalItem> items,
      List<PromptEmbeds> embeds,
      List<ExtraKeys> keys) {
    this.oneOpenItem = oneOpenItem;
    this.items = new ArrayList<>(items);
    this.embeds = new ArrayList<>(embeds);
    this.keys = new ArrayList<>(keys);
  }

  PendingExtras copy() {
    return new PendingExtras(oneOpenItem, items, embeds, keys);
  }

  boolean isEmpty() {
    return items.isEmpty() && embeds.isEmpty() && keys.isEmpty();
  }

  /** Keeps items in order of their offsets; those with the same offset in the order they came. */
  void add(BlockExtra extra) {
    if (extra instanceof MultimodalItem item) {
      int at = items.size();
      while (at > 0 && items.get(at - 1).offset() > item.offset()) {
        at--;
      }
      items.add(at, item);
    } else if (extra instanceof PromptEmbeds digest) {
      embeds.add(digest);
    } else {
      keys.add((ExtraKeys) extra);
    }
  }

  /**
   * The extras of a block, or null where it has none. Blocks are asked for in order; what later
   * blocks cannot need is forgotten.
   */
  @Nullable BlockExtras take(int block, long firstToken, long endToken) {
    List<MultimodalItem> touching =
        oneOpenItem ? walk(firstToken, endToken) : overlapping(firstToken, endToken);
    PromptEmbeds digest = null;
    for (int i = 0; i < embeds.size(); i++) {
      if (embeds.get(i).block() == block) {
        digest = embeds.remove(i);
        break;
      }
    }
    ExtraKeys given = null;
    for (int i = 0; i < keys.size(); i++) {
      if (keys.get(i).block() == block) {
        given = keys.remove(i);
        break;
      }
    }
    return touching.isEmpty() && digest == null && given == null
        ? null
        : new BlockExtras(touching, digest, given);
  }

  private List<MultimodalItem> overlapping(long firstToken, long endToken) {
    items.removeIf(item -> item.end() <= firstToken);
    List<MultimodalItem> touching = new ArrayList<>();
    for (MultimodalItem item : items) {
      if (item.offset() < endToken) {
        touching.add(item);
      }
    }
    return touching;
  }

  private List<MultimodalItem> walk(long firstToken, long endToken) {
    List<MultimodalItem> touching = new ArrayList<>();
    int passed = 0;
    for (MultimodalItem item : items) {
      if (item.offset() >= endToken) {
        break;
      }
      if (firstToken <= item.end()) {
        touching.add(item);
        if (endToken < item.end()) {
          break;
        }
      }
      passed++;
    }
    items.subList(0, passed).clear();
    return touching;
  }
}
