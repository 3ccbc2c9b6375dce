package dev.warmpath.fake.internal.kv;

import dev.warmpath.fake.internal.kv.EngineBlocks.Block;
import dev.warmpath.fake.kv.KvEventEncoding;
import dev.warmpath.fake.live.KvEvent;
import dev.warmpath.fake.scheduler.EngineEffect;
import dev.warmpath.fake.scheduler.EngineEffect.BlockRemoved;
import dev.warmpath.fake.scheduler.EngineEffect.BlocksStored;
import dev.warmpath.fake.scheduler.EngineEffect.CacheCleared;
import dev.warmpath.fake.scheduler.StorageTier;
import dev.warmpath.hash.ReportedForm;
import dev.warmpath.worker.EngineKind;
import java.io.IOException;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessagePacker;

/**
 * Makes a batch of a rank's cache changes, in the layout of the engine's version. SGLang tells of
 * every page by itself, vLLM and ATOM of blocks that came together. One thread at a time.
 */
final class EventEncoder {
  private static final BigInteger UNSIGNED_BIT = BigInteger.ONE.shiftLeft(Long.SIZE);

  private interface Event {
    void pack(MessagePacker to) throws IOException;
  }

  private final EventLayout layout;
  private final EngineBlocks blocks;
  private final boolean signed;
  private final boolean maps;

  EventEncoder(EventLayout layout, EngineBlocks blocks) {
    this.layout = layout;
    this.blocks = blocks;
    this.signed = blocks.form() == ReportedForm.FIRST_64_SIGNED;
    this.maps = layout.encoding() == KvEventEncoding.MAPS;
  }

  /**
   * Encodes changes.
   *
   * @return the batch, or null if nothing of them is to be told
   */
  byte @Nullable [] batch(double epochSeconds, List<KvEvent> changes) throws IOException {
    List<Event> events = new ArrayList<>();
    for (KvEvent change : changes) {
      add(change.change(), events);
    }
    if (events.isEmpty()) {
      return null;
    }
    try (MessageBufferPacker batch = MessagePack.newDefaultBufferPacker()) {
      batch.packArrayHeader(3);
      batch.packDouble(epochSeconds);
      batch.packArrayHeader(events.size());
      for (Event event : events) {
        event.pack(batch);
      }
      batch.packInt(changes.get(0).dpRank());
      return batch.toByteArray();
    }
  }

  private void add(EngineEffect change, List<Event> events) {
    if (change instanceof BlocksStored stored) {
      List<Block> chained = blocks.stored(stored);
      if (layout.kind() == EngineKind.SGLANG) {
        chained.forEach(block -> events.add(to -> stored(to, stored.tier(), List.of(block))));
      } else if (!chained.isEmpty()) {
        events.add(to -> stored(to, stored.tier(), chained));
      }
    } else if (change instanceof BlockRemoved removed) {
      Block block =
          removed.tier() == StorageTier.DEVICE
              ? blocks.removed(removed.blockHash())
              : blocks.find(removed.blockHash());
      if (block != null) {
        events.add(to -> removed(to, removed.tier(), block));
      }
    } else if (change instanceof CacheCleared) {
      blocks.clear();
      events.add(this::cleared);
    }
  }

  private void cleared(MessagePacker to) throws IOException {
    header(to, "AllBlocksCleared", 0);
  }

  /** Begins an event with some fields behind its tag. */
  private void header(MessagePacker to, String type, int fields) throws IOException {
    if (maps) {
      to.packMapHeader(1 + fields);
      to.packString("type");
    } else {
      to.packArrayHeader(1 + fields);
    }
    to.packString(type);
  }

  private void name(MessagePacker to, String field) throws IOException {
    if (maps) {
      to.packString(field);
    }
  }

  private void removed(MessagePacker to, StorageTier tier, Block block) throws IOException {
    boolean grouped = maps && layout.kind() == EngineKind.VLLM;
    header(to, "BlockRemoved", 1 + (layout.medium() ? 1 : 0) + (grouped ? 1 : 0));
    name(to, "block_hashes");
    to.packArrayHeader(1);
    hash(to, block);
    if (layout.medium()) {
      name(to, "medium");
      to.packString(medium(tier));
    }
    if (grouped) {
      to.packString("group_idx");
      to.packInt(0);
    }
  }

  private void stored(MessagePacker to, StorageTier tier, List<Block> chained) throws IOException {
    RequestKeys keys = chained.get(0).keys();
    boolean grouped = maps && layout.kind() == EngineKind.VLLM;
    boolean extra = layout.extraKeys() && chained.stream().anyMatch(EventEncoder::hasExtraKeys);
    boolean salted = layout.salt() && !keys.salt().isEmpty();
    int optional = (layout.medium() ? 1 : 0) + (layout.loraName() ? 1 : 0) + (extra ? 1 : 0);
    header(to, "BlockStored", 5 + optional + (grouped ? 1 : 0) + (salted ? 1 : 0));
    name(to, "block_hashes");
    to.packArrayHeader(chained.size());
    int tokens = 0;
    for (Block block : chained) {
      hash(to, block);
      tokens += block.tokens().length;
    }
    name(to, "parent_block_hash");
    Block parent = chained.get(0).parent();
    if (parent == null) {
      to.packNil();
    } else {
      hash(to, parent);
    }
    name(to, "token_ids");
    to.packArrayHeader(tokens);
    for (Block block : chained) {
      for (int token : block.tokens()) {
        to.packLong(Integer.toUnsignedLong(token));
      }
    }
    name(to, "block_size");
    to.packInt(chained.get(0).tokens().length);
    name(to, "lora_id");
    to.packNil();
    if (layout.medium()) {
      name(to, "medium");
      to.packString(medium(tier));
    }
    if (layout.loraName()) {
      name(to, "lora_name");
      text(to, keys.lora());
    }
    if (extra) {
      name(to, "extra_keys");
      to.packArrayHeader(chained.size());
      for (Block block : chained) {
        extraKeys(to, block);
      }
    }
    if (grouped) {
      to.packString("group_idx");
      to.packInt(0);
    }
    if (salted) {
      salt(to, keys.salt());
    }
  }

  /** By position, the salt comes in a map of its own. */
  private void salt(MessagePacker to, String salt) throws IOException {
    if (!maps) {
      to.packMapHeader(1);
    }
    to.packString("cache_salt");
    to.packString(salt);
  }

  private static boolean hasExtraKeys(Block block) {
    return !block.keys().lora().isEmpty()
        || (block.position() == 0 && !block.keys().salt().isEmpty());
  }

  /** vLLM's order: the adapter on every block, the salt on the first. */
  private static void extraKeys(MessagePacker to, Block block) throws IOException {
    if (!hasExtraKeys(block)) {
      to.packNil();
      return;
    }
    List<String> keys = new ArrayList<>();
    if (!block.keys().lora().isEmpty()) {
      keys.add(block.keys().lora());
    }
    if (block.position() == 0 && !block.keys().salt().isEmpty()) {
      keys.add(block.keys().salt());
    }
    to.packArrayHeader(keys.size());
    for (String key : keys) {
      to.packString(key);
    }
  }

  private static void text(MessagePacker to, String text) throws IOException {
    if (text.isEmpty()) {
      to.packNil();
    } else {
      to.packString(text);
    }
  }

  private void hash(MessagePacker to, Block block) throws IOException {
    if (!layout.integerHashes()) {
      to.packBinaryHeader(block.digest().length);
      to.writePayload(block.digest());
    } else if (signed || block.reported() >= 0) {
      to.packLong(block.reported());
    } else {
      to.packBigInteger(BigInteger.valueOf(block.reported()).add(UNSIGNED_BIT));
    }
  }

  private String medium(StorageTier tier) {
    return switch (layout.kind()) {
      case VLLM ->
          switch (tier) {
            case DEVICE -> "GPU";
            case HOST -> "CPU";
            case DISK -> "FS";
            case EXTERNAL -> "OBJ";
          };
      case ATOM ->
          switch (tier) {
            case DEVICE -> "GPU";
            case HOST -> "CPU";
            case DISK -> "DISK";
            case EXTERNAL -> "REMOTE";
          };
      case SGLANG, UNKNOWN ->
          switch (tier) {
            case DEVICE -> "GPU";
            case HOST -> "CPU_PINNED";
            case DISK -> "DISK";
            case EXTERNAL -> "EXTERNAL";
          };
    };
  }
}
