package dev.warmpath.index.kv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.warmpath.index.KvBatch;
import dev.warmpath.index.KvEvent;
import dev.warmpath.index.KvEvent.KvKeys;
import dev.warmpath.index.KvEvent.Removed;
import dev.warmpath.index.KvEvent.Stored;
import dev.warmpath.index.Tier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class KvBatchDecoderTest {
  private final KvBatchDecoder decoder = new KvBatchDecoder();

  private static List<Object> list(Object... values) {
    return new ArrayList<>(Arrays.asList(values));
  }

  private static Map<String, Object> map(Object... pairs) {
    Map<String, Object> map = new LinkedHashMap<>();
    for (int i = 0; i < pairs.length; i += 2) {
      map.put((String) pairs[i], pairs[i + 1]);
    }
    return map;
  }

  private List<KvEvent> events(Object... events) {
    return decoder.decode(7, Msgpack.of(list(1.5, list(events), 3))).events();
  }

  private Stored stored(Object event) {
    List<KvEvent> events = events(event);
    assertThat(events).hasSize(1);
    return (Stored) events.get(0);
  }

  @Test
  void readsABatchInAnArrayOrAMap() {
    KvBatch batch = decoder.decode(7, Msgpack.of(list(1.5, list(), 3)));
    assertThat(batch.sequence()).isEqualTo(7);
    assertThat(batch.epochSeconds()).isEqualTo(1.5);
    assertThat(decoder.rank()).hasValue(3);
    Object later = map("ts", 2.5f, "new", list(1), "events", list(), "data_parallel_rank", 300);
    batch = decoder.decode(8, Msgpack.of(later));
    assertThat(batch.epochSeconds()).isEqualTo(2.5);
    assertThat(decoder.rank()).hasValue(300);
    decoder.decode(9, Msgpack.of(list(1, list(), null, "more", map("a", 1))));
    assertThat(decoder.rank()).isEmpty();
  }

  @Test
  void readsSglangsArrays() {
    Stored first = stored(list("BlockStored", list(-5L), null, list(1, 70_000, 3), 3, null, "GPU"));
    assertThat(first.hashes()).containsExactly(-5);
    assertThat(first.first()).isTrue();
    assertThat(first.tokens()).containsExactly(1, 70_000, 3);
    assertThat(first.tier()).isEqualTo(Tier.HBM);
    assertThat(first.keys()).isEqualTo(KvKeys.NONE);
    Stored next =
        stored(list("BlockStored", list(6L), Long.MIN_VALUE, list(1, 2), 2, null, "CPU_PINNED"));
    assertThat(next.first()).isFalse();
    assertThat(next.parent()).isEqualTo(Long.MIN_VALUE);
    assertThat(next.tier()).isEqualTo(Tier.DRAM);
    Stored old = stored(list("BlockStored", list(6L), null, list(1, 2), 2, null));
    assertThat(old.tier()).isEqualTo(Tier.HBM);
    Object salt = map("cache_salt", "s", "session_id", "x");
    Stored salted = stored(list("BlockStored", list(6L), null, list(1), 1, null, "DISK", salt));
    assertThat(salted.keys()).isEqualTo(new KvKeys(null, "s"));
    assertThat(salted.tier()).isEqualTo(Tier.SSD);
    assertThat(events(list("BlockRemoved", list(1L, -2L), "CPU_PINNED"), list("AllBlocksCleared")))
        .satisfiesExactly(
            removed -> {
              assertThat(((Removed) removed).hashes()).containsExactly(1, -2);
              assertThat(((Removed) removed).tier()).isEqualTo(Tier.DRAM);
            },
            cleared -> assertThat(cleared).isEqualTo(new KvEvent.Cleared()));
  }

  @Test
  void readsVllmsArraysOfEveryLength() {
    byte[] digest = new byte[32];
    digest[31] = 9;
    digest[0] = 1;
    List<Object> event =
        list(
            "BlockStored",
            list(new Msgpack.Unsigned(-1), digest),
            new Msgpack.Unsigned(1L << 63),
            list(1, 2, 3, 4),
            2,
            null,
            "CPU",
            null,
            null,
            0,
            "full_attention",
            null,
            "LOCAL",
            "later");
    for (int length = 6; length <= event.size(); length++) {
      Stored stored = stored(event.subList(0, length));
      assertThat(stored.hashes()).containsExactly(-1, 9);
      assertThat(stored.parent()).isEqualTo(Long.MIN_VALUE);
      assertThat(stored.tokens()).containsExactly(1, 2, 3, 4);
      assertThat(stored.tier()).isEqualTo(length > 6 ? Tier.DRAM : Tier.HBM);
    }
  }

  @Test
  void readsMapsWhateverTheOrderOfTheirFields() {
    Stored stored =
        stored(
            map(
                "token_ids",
                list(1, 2),
                "medium",
                "GPU",
                "what_comes",
                map("x", list(1, 2)),
                "block_size",
                2,
                "type",
                "BlockStored",
                "parent_block_hash",
                null,
                "block_hashes",
                list(4L)));
    assertThat(stored.hashes()).containsExactly(4);
    assertThat(stored.tokens()).containsExactly(1, 2);
    List<KvEvent> others =
        events(
            map("type", "BlockRemoved", "block_hashes", list(4L), "medium", "FS"),
            map("type", "AllBlocksCleared"),
            map("type", "BlockMigrated", "block_hashes", list(4L)));
    assertThat(others).hasSize(2);
    assertThat(((Removed) others.get(0)).tier()).isEqualTo(Tier.SSD);
  }

  @Test
  void readsAtomsTransfersAndItsBlocksOfSeveralRanks() {
    Stored wide = stored(list("BlockStored", list(4L), null, list(1, 2, 3, 4), 2));
    assertThat(wide.tokens()).hasSize(4);
    List<KvEvent> moved = events(list("BlockTransferred", list(4L), "GPU", "CPU", 0));
    assertThat(((Stored) moved.get(0)).tier()).isEqualTo(Tier.DRAM);
    assertThat(((Stored) moved.get(0)).tokens()).isEmpty();
    assertThat(((Removed) moved.get(1)).tier()).isEqualTo(Tier.HBM);
  }

  private static List<Object> vllm(Object parent, Object lora, Object name, Object extras) {
    return list(
        "BlockStored", list(4L, 5L), parent, list(1, 2, 3, 4), 2, lora, "GPU", name, extras);
  }

  @Test
  void readsAdaptersAndSalts() {
    Object both = list(list("l", "s"), list("l"));
    assertThat(stored(vllm(null, 1, "l", both)).keys()).isEqualTo(new KvKeys("l", "s"));
    assertThat(stored(vllm(null, null, null, list(list("s"), null))).keys())
        .isEqualTo(new KvKeys(null, "s"));
    assertThat(stored(vllm(9L, 1, "l", list(list("l"), list("l")))).keys())
        .isEqualTo(new KvKeys("l", null));
    assertThat(stored(vllm(9L, null, null, null)).tokens()).hasSize(4);
  }

  @Test
  void leavesOutTheTokensOfWhatCoversMore() {
    Object image = list(list(list("id", -3)), null);
    assertThat(stored(vllm(null, null, null, image)).tokens()).isEmpty();
    Object late = list(null, list("id"));
    assertThat(stored(vllm(null, null, null, late)).tokens()).isEmpty();
    assertThat(stored(vllm(null, 1, null, null)).tokens()).as("an adapter by number").isEmpty();
    Object pairs = list(list(1, 2), list(2, 3));
    assertThat(stored(list("BlockStored", list(4L), null, pairs, 2, null)).tokens()).isEmpty();
    Object wide = list(1L << 40, 2);
    assertThat(stored(list("BlockStored", list(4L), null, wide, 2, null)).tokens()).isEmpty();
    assertThat(stored(list("BlockStored", list(4L), null, list(1), 2, null)).tokens()).isEmpty();
    assertThat(stored(list("BlockStored", list(4L), null, null, 2, null)).tokens()).isEmpty();
  }

  private static Map<String, Object> group(String type, int index, Object kind) {
    return map(
        "type",
        type,
        "block_hashes",
        list(4L),
        "parent_block_hash",
        null,
        "token_ids",
        list(1, 2),
        "block_size",
        2,
        "group_idx",
        index,
        "kv_cache_spec_kind",
        kind);
  }

  @Test
  void takesTheFirstGroupOfFullAttentionOnly() {
    assertThat(events(group("BlockStored", 0, "sliding_window"))).isEmpty();
    assertThat(events(group("BlockStored", 1, "full_attention"))).hasSize(1);
    assertThat(events(group("BlockStored", 2, "full_attention"))).isEmpty();
    assertThat(events(group("BlockStored", 3, "mamba"))).isEmpty();
    assertThat(events(group("BlockRemoved", 0, null))).isEmpty();
    assertThat(events(group("BlockRemoved", 1, null))).hasSize(1);
    assertThat(
            new KvBatchDecoder()
                .decode(1, Msgpack.of(list(1, list(group("BlockStored", 0, null)))))
                .events())
        .hasSize(1);
  }

  @Test
  void leavesOutWhatIsElsewhere() {
    Map<String, Object> remote = group("BlockStored", 0, null);
    remote.put("locality", "REMOTE");
    assertThat(events(remote)).isEmpty();
  }

  @Test
  void refusesWhatIsCutOff() {
    byte[] whole = Msgpack.of(list(1.5, list(vllm(null, 1, "l", list(list("l"), null))), 3));
    for (int length = 0; length < whole.length; length++) {
      byte[] cut = Arrays.copyOf(whole, length);
      assertThatExceptionOfType(MalformedBatchException.class)
          .isThrownBy(() -> decoder.decode(1, cut));
    }
    decoder.decode(1, whole);
  }

  @Test
  void refusesWhatIsTooDeepOrTooLong() {
    byte[] deep = new byte[5_000];
    Arrays.fill(deep, (byte) 0x91);
    assertThatExceptionOfType(MalformedBatchException.class)
        .isThrownBy(() -> decoder.decode(1, deep));
    byte[] tokens = {(byte) 0x92, 1, (byte) 0xdd, 0x7f, (byte) 0xff, (byte) 0xff, (byte) 0xff};
    assertThatExceptionOfType(MalformedBatchException.class)
        .isThrownBy(() -> decoder.decode(1, tokens));
  }

  @Property(tries = 20_000, seed = "7")
  void doesNothingButRefuseWhateverComes(@ForAll @Size(max = 40) byte[] message) {
    try {
      decoder.decode(1, message);
    } catch (MalformedBatchException e) {
      assertThat(e).hasMessageContaining("can't be read");
    }
  }

  @Property(tries = 5_000, seed = "8")
  void doesNothingButRefuseWhateverIsWrongInABatch(@ForAll int at, @ForAll byte value) {
    byte[] message = Msgpack.of(list(1.5, list(vllm(null, 1, "l", list(list("l"), null))), 3));
    message[Math.floorMod(at, message.length)] = value;
    try {
      decoder.decode(1, message);
    } catch (MalformedBatchException e) {
      assertThat(e).hasMessageContaining("can't be read");
    }
  }
}
