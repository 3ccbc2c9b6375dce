package dev.warmpath.fake.internal.kv;

import dev.warmpath.fake.kv.KvEventEncoding;
import dev.warmpath.fake.scheduler.StorageTier;
import dev.warmpath.hash.ReportedForm;
import dev.warmpath.worker.EngineKind;
import java.io.IOException;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessagePacker;

/** Makes batches of cache changes msgpack, in the layout of the engine's version. Immutable. */
final class EventEncoder {
  private static final BigInteger UNSIGNED_BIT = BigInteger.ONE.shiftLeft(Long.SIZE);

  private final EventLayout layout;
  private final boolean signed;
  private final boolean maps;

  /**
   * Creates an encoder.
   *
   * @param form how the hash scheme reports its digests
   */
  EventEncoder(EventLayout layout, ReportedForm form) {
    this.layout = layout;
    this.signed = form == ReportedForm.FIRST_64_SIGNED;
    this.maps = layout.encoding() == KvEventEncoding.MAPS;
  }

  byte[] encode(KvBatch batch) throws IOException {
    try (MessageBufferPacker to = MessagePack.newDefaultBufferPacker()) {
      to.packArrayHeader(3);
      to.packDouble(batch.epochSeconds());
      to.packArrayHeader(batch.changes().size());
      for (KvBatch.Change change : batch.changes()) {
        encode(to, change);
      }
      to.packInt(batch.rank());
      return to.toByteArray();
    }
  }

  private void encode(MessagePacker to, KvBatch.Change change) throws IOException {
    if (change instanceof KvBatch.Stored stored) {
      stored(to, stored.tier(), stored.blocks());
    } else if (change instanceof KvBatch.Removed removed) {
      removed(to, removed.tier(), removed.block());
    } else {
      cleared(to);
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

  private void removed(MessagePacker to, StorageTier tier, EngineBlock block) throws IOException {
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

  private void stored(MessagePacker to, StorageTier tier, List<EngineBlock> chained)
      throws IOException {
    RequestKeys keys = chained.get(0).keys();
    boolean grouped = maps && layout.kind() == EngineKind.VLLM;
    boolean extra = layout.extraKeys() && chained.stream().anyMatch(EventEncoder::hasExtraKeys);
    boolean salted = layout.salt() && !keys.salt().isEmpty();
    int optional = (layout.medium() ? 1 : 0) + (layout.loraName() ? 1 : 0) + (extra ? 1 : 0);
    header(to, "BlockStored", 5 + optional + (grouped ? 1 : 0) + (salted ? 1 : 0));
    name(to, "block_hashes");
    to.packArrayHeader(chained.size());
    int tokens = 0;
    for (EngineBlock block : chained) {
      hash(to, block);
      tokens += block.tokens().length;
    }
    name(to, "parent_block_hash");
    EngineBlock parent = chained.get(0).parent();
    if (parent == null) {
      to.packNil();
    } else {
      hash(to, parent);
    }
    name(to, "token_ids");
    to.packArrayHeader(tokens);
    for (EngineBlock block : chained) {
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
      for (EngineBlock block : chained) {
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

  private static boolean hasExtraKeys(EngineBlock block) {
    return !block.keys().lora().isEmpty()
        || (block.position() == 0 && !block.keys().salt().isEmpty());
  }

  /** vLLM's order: the adapter on every block, the salt on the first. */
  private static void extraKeys(MessagePacker to, EngineBlock block) throws IOException {
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

  private void hash(MessagePacker to, EngineBlock block) throws IOException {
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
