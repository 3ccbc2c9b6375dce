package dev.warmpath.index.kv;

import dev.warmpath.index.KvEvent;
import dev.warmpath.index.KvEvent.KvKeys;
import dev.warmpath.index.Tier;
import dev.warmpath.index.kv.MsgpackReader.Kind;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The fields of one event, in whatever order they come, and what they make. Used again and again by
 * one thread.
 */
final class EventFields {
  private static final long[] NO_HASHES = {};
  private static final int[] NO_TOKENS = {};

  private final MsgpackReader in;

  /** The group of the cache whose blocks are told of, or -1 while none is chosen. */
  private int group = -1;

  private long[] hashes = NO_HASHES;
  private boolean hasParent;
  private long parent;
  private int[] tokens = NO_TOKENS;
  private boolean plainTokens;
  private long blockTokens;
  private boolean numberedAdapter;
  private @Nullable String adapter;
  private @Nullable String salt;
  private boolean coversMore;
  private @Nullable String medium;
  private @Nullable String target;
  private int groupIndex;
  private @Nullable String kind;
  private boolean remote;

  EventFields(MsgpackReader in) {
    this.in = in;
  }

  void clear() {
    hashes = NO_HASHES;
    hasParent = false;
    tokens = NO_TOKENS;
    plainTokens = true;
    blockTokens = 0;
    numberedAdapter = false;
    adapter = null;
    salt = null;
    coversMore = false;
    medium = null;
    target = null;
    groupIndex = -1;
    kind = null;
    remote = false;
  }

  /** The place of a field behind the tag of an event in an array. */
  void stored(int place) {
    switch (place) {
      case 1 -> hashes();
      case 2 -> parent();
      case 3 -> tokens();
      case 4 -> blockTokens = in.nil() ? 0 : in.integer();
      case 5 -> adapterNumber();
      default -> {
        // SGLang puts a map with the salt behind the last field that it has.
        if (in.next() == Kind.MAP) {
          named();
        } else {
          storedTail(place);
        }
      }
    }
  }

  private void storedTail(int place) {
    switch (place) {
      case 6 -> medium = word();
      case 7 -> adapter = text();
      case 8 -> extraKeys();
      case 9 -> group();
      case 10 -> kind = text();
      case 12 -> remote = "REMOTE".equals(text());
      default -> in.skip();
    }
  }

  void removed(int place) {
    switch (place) {
      case 1 -> hashes();
      case 2 -> medium = word();
      case 3 -> group();
      case 4 -> remote = "REMOTE".equals(text());
      default -> in.skip();
    }
  }

  /** ATOM's event of blocks that move from one tier to another. */
  void transferred(int place) {
    switch (place) {
      case 1 -> hashes();
      case 2 -> medium = word();
      case 3 -> target = text();
      default -> in.skip();
    }
  }

  /** The pairs of a map. */
  void named() {
    int pairs = in.map();
    for (int i = 0; i < pairs; i++) {
      field(in.name());
    }
  }

  /** A field of an event in a map. */
  void field(String name) {
    switch (name) {
      case "block_hashes" -> hashes();
      case "parent_block_hash" -> parent();
      case "token_ids" -> tokens();
      case "block_size" -> blockTokens = in.nil() ? 0 : in.integer();
      case "lora_id" -> adapterNumber();
      case "medium" -> medium = word();
      case "lora_name" -> adapter = text();
      case "extra_keys" -> extraKeys();
      case "group_idx" -> group();
      case "kv_cache_spec_kind" -> kind = text();
      case "locality" -> remote = "REMOTE".equals(text());
      case "cache_salt" -> salt = text();
      case "from_medium" -> medium = text();
      case "to_medium" -> target = text();
      default -> in.skip();
    }
  }

  private @Nullable String text() {
    if (in.next() == Kind.STRING) {
      String text = in.string();
      return text.isEmpty() ? null : text;
    }
    in.skip();
    return null;
  }

  /** As {@link #text}, where it is one of few. */
  private @Nullable String word() {
    if (in.next() == Kind.STRING) {
      return in.name();
    }
    in.skip();
    return null;
  }

  private void group() {
    if (in.next() == Kind.INTEGER) {
      groupIndex = (int) in.integer();
    } else {
      in.skip();
    }
  }

  private void adapterNumber() {
    numberedAdapter = !in.nil();
    if (numberedAdapter) {
      in.skip();
    }
  }

  private void hashes() {
    int count = in.array();
    hashes = new long[count];
    for (int i = 0; i < count; i++) {
      hashes[i] = hash();
    }
  }

  private long hash() {
    return in.next() == Kind.BINARY ? in.lastBits() : in.integer();
  }

  private void parent() {
    hasParent = !in.nil();
    if (hasParent) {
      parent = hash();
    }
  }

  private void tokens() {
    if (in.nil()) {
      return;
    }
    int count = in.array();
    tokens = new int[count];
    for (int i = 0; i < count; i++) {
      if (in.next() != Kind.INTEGER) {
        // Overlapping pairs, of an engine that decodes speculatively.
        plainTokens = false;
        in.skip();
      } else {
        long token = in.integer();
        plainTokens &= token >>> 32 == 0;
        tokens[i] = (int) token;
      }
    }
  }

  /**
   * vLLM's keys of each block besides its tokens: the adapter's name, then images, then on a
   * prompt's first block the salt. An image that is named by a text alone looks like a salt there,
   * and makes blocks that no request without it will match.
   */
  private void extraKeys() {
    if (in.nil()) {
      return;
    }
    int blocks = in.array();
    for (int block = 0; block < blocks; block++) {
      if (in.nil()) {
        continue;
      }
      int keys = in.array();
      for (int key = 0; key < keys; key++) {
        extraKey(block, key);
      }
    }
  }

  private void extraKey(int block, int key) {
    if (in.next() != Kind.STRING) {
      coversMore = true;
      in.skip();
      return;
    }
    String text = in.string();
    boolean named = key == 0 && (text.equals(adapter) || (adapter == null && numberedAdapter));
    if (named) {
      adapter = text;
    } else if (block == 0 && !hasParent && salt == null) {
      salt = text;
    } else {
      coversMore = true;
    }
  }

  /** Blocks that came, or null where they are not what prompts are matched with. */
  KvEvent.@Nullable Stored toStored() {
    Tier tier = tier(medium);
    if (hashes.length == 0 || remote || !counts()) {
      return null;
    }
    boolean known =
        plainTokens
            && !coversMore
            && (adapter != null || !numberedAdapter)
            && tokens.length > 0
            && tokens.length % hashes.length == 0
            // ATOM names the block size of one rank where several share a block.
            && (blockTokens == 0 || tokens.length % (hashes.length * blockTokens) == 0);
    KvKeys keys = adapter == null && salt == null ? KvKeys.NONE : new KvKeys(adapter, salt);
    return new KvEvent.Stored(hashes, !hasParent, parent, known ? tokens : NO_TOKENS, tier, keys);
  }

  /** Blocks that went, or null likewise. */
  KvEvent.@Nullable Removed toRemoved() {
    boolean ours = groupIndex < 0 || group < 0 || groupIndex == group;
    return hashes.length == 0 || remote || !ours ? null : new KvEvent.Removed(hashes, tier(medium));
  }

  /** Adds the events that blocks which moved come to. */
  void toTransferred(List<KvEvent> events) {
    if (hashes.length > 0 && target != null) {
      long[] moved = Arrays.copyOf(hashes, hashes.length);
      events.add(new KvEvent.Stored(moved, false, 0, NO_TOKENS, tier(target), KvKeys.NONE));
      events.add(new KvEvent.Removed(hashes, tier(medium)));
    }
  }

  /**
   * Whether it is the group that counts: a model with several kinds of attention has a group of
   * blocks for each, which all cover the same tokens. What a prompt finds is what the first group
   * of full attention has.
   */
  private boolean counts() {
    if (groupIndex < 0) {
      return true;
    }
    if (group < 0 && full(kind)) {
      group = groupIndex;
    }
    return groupIndex == group;
  }

  private static boolean full(@Nullable String kind) {
    if (kind == null) {
      return true;
    }
    String name = kind.toLowerCase(Locale.ROOT);
    return !name.contains("sliding") && (name.contains("full") || name.contains("mla"));
  }

  private static Tier tier(@Nullable String medium) {
    if (medium == null) {
      return Tier.HBM;
    }
    return switch (medium) {
      case "GPU", "" -> Tier.HBM;
      case "CPU", "CPU_PINNED" -> Tier.DRAM;
      default -> Tier.SSD;
    };
  }
}
