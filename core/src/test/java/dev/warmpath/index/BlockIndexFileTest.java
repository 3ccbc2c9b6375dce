package dev.warmpath.index;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.warmpath.hash.BlockHashes;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;

class BlockIndexFileTest {
  private static final long A = HolderIds.of(1, 0);
  private static final long B = HolderIds.of(7, 3);
  private static final int ALL = Integer.MAX_VALUE;

  private final ManualTicker ticker = new ManualTicker();
  private final BlockIndex index = BlockIndex.builder().ticker(ticker).build();
  private final BlockMatches matches = new BlockMatches();

  private static void store(BlockIndex index, String text, long holder, Tier tier) {
    BlockHashes hashes = Chains.of(text);
    index.stored(hashes, 0, hashes.size(), holder, tier);
  }

  private int matched(BlockIndex in, String text, long holder) {
    in.match(Chains.of(text), matches);
    return matches.blocks(holder);
  }

  private static byte[] written(HeldBlocks held) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    BlockIndexFile.write(
        new BlockIndexFile.Content(
            Instant.ofEpochMilli(5),
            List.of(new BlockIndexFile.Rank("http://w:1", 2, "vllm", 16, -9, held))),
        out);
    return out.toByteArray();
  }

  private static BlockIndexFile.Content read(byte[] bytes) throws IOException {
    return BlockIndexFile.read(new ByteArrayInputStream(bytes));
  }

  private static HeldBlocks again(HeldBlocks held) throws IOException {
    return read(written(held)).ranks().get(0).held();
  }

  @Test
  void whatARankHoldsComesBackWithWhoItIs() throws IOException {
    store(index, "system user", A, Tier.HBM);
    store(index, "system tool", A, Tier.DRAM);
    BlockIndexFile.Content content = read(written(index.held(A, ALL)));
    assertThat(content.at()).isEqualTo(Instant.ofEpochMilli(5));
    BlockIndexFile.Rank rank = content.ranks().get(0);
    assertThat(rank.worker()).isEqualTo("http://w:1");
    assertThat(rank.rank()).isEqualTo(2);
    assertThat(rank.engine()).isEqualTo("vllm");
    assertThat(rank.blockTokens()).isEqualTo(16);
    assertThat(rank.models()).isEqualTo(-9);
    assertThat(rank.held().size()).isEqualTo(15);

    BlockIndex later = BlockIndex.builder().ticker(ticker).build();
    later.assume(B, rank.held());
    BlockAudit.audit(later);
    assertThat(matched(later, "system user", B)).isEqualTo(11);
    assertThat(matched(later, "system tool", B)).isEqualTo(11);
    assertThat(matches.blocks(B, Tier.HBM)).isEqualTo(7);
    assertThat(matched(later, "system tool", A)).isZero();
    assertThat(later.authoritative(B, Chains.MODEL.namespace())).isFalse();
  }

  @Test
  void whatAnyRankHeldComesBackInTheOrderOfItsUse() throws IOException {
    Random random = new Random(11);
    for (int round = 0; round < 60; round++) {
      BlockIndex first = BlockIndex.builder().ticker(ticker).build();
      List<String> texts = new ArrayList<>();
      for (int i = 0; i < 30; i++) {
        StringBuilder text = new StringBuilder();
        for (int length = 1 + random.nextInt(40); length > 0; length--) {
          text.append((char) ('a' + random.nextInt(random.nextInt(4) == 0 ? 3 : 1)));
        }
        texts.add(text.toString());
        ticker.advance(Duration.ofMillis(100L * random.nextInt(3)));
        store(first, text.toString(), A, random.nextInt(10) < 8 ? Tier.HBM : Tier.DRAM);
      }
      boolean holes = round % 2 == 0;
      for (int i = 0; i < 5 && holes; i++) {
        BlockHashes hashes = Chains.of(texts.get(random.nextInt(texts.size())));
        long[] one = {hashes.bits(random.nextInt(hashes.size()))};
        first.removed(hashes.namespace(), one, A, Tier.HBM);
      }
      BlockIndex later = BlockIndex.builder().ticker(ticker).build();
      later.assume(B, again(first.held(A, ALL)));
      BlockAudit.audit(later);
      assertSame(first, later, texts);
      while (!holes && first.stats().blocks() > 0 && first.stats().overCapacity() < 100) {
        int capacity = 1 + random.nextInt(first.stats().blocks());
        first.capacity(A, capacity);
        later.capacity(B, capacity);
        BlockAudit.audit(later);
        assertSame(first, later, texts);
        if (capacity == 1) {
          break;
        }
      }
    }
  }

  private void assertSame(BlockIndex first, BlockIndex later, List<String> texts) {
    for (String text : texts) {
      for (Tier tier : Tier.values()) {
        first.match(Chains.of(text), matches);
        int before = matches.blocks(A, tier);
        later.match(Chains.of(text), matches);
        assertThat(matches.blocks(B, tier)).as("%s in %s", text, tier).isEqualTo(before);
      }
    }
  }

  @Test
  void theMostRecentlyUsedFitFirst() throws IOException {
    store(index, "system old one", A, Tier.HBM);
    ticker.advance(Duration.ofSeconds(1));
    store(index, "another", A, Tier.HBM);
    ticker.advance(Duration.ofSeconds(1));
    store(index, "system", A, Tier.HBM);
    HeldBlocks held = again(index.held(A, 15));
    assertThat(held.size()).isEqualTo(15);
    BlockIndex later = BlockIndex.builder().ticker(ticker).build();
    later.assume(B, held);
    assertThat(matched(later, "system old one", B))
        .as("as much as there was room for")
        .isEqualTo(8);
    assertThat(matched(later, "another", B)).isEqualTo(7);

    later.capacity(B, 13);
    assertThat(matched(later, "system old one", B)).as("the oldest goes first").isEqualTo(6);
    assertThat(matched(later, "another", B)).isEqualTo(7);
  }

  @Test
  void aPromptOnItsWayIsNotHeld() {
    store(index, "system", A, Tier.HBM);
    index.dispatch(Chains.of("system user"), A);
    assertThat(index.held(A, ALL).size()).isEqualTo(6);
    assertThat(index.held(B, ALL).size()).isZero();
  }

  @Test
  void whatIsKnownSinceStaysAndIsYounger() throws IOException {
    store(index, "system old", A, Tier.HBM);
    store(index, "else", A, Tier.HBM);
    HeldBlocks held = again(index.held(A, ALL));
    BlockIndex later = BlockIndex.builder().ticker(ticker).build();
    store(later, "system new", B, Tier.HBM);
    BlockHashes other = Chains.of("else where");
    later.stored(other, 6, 10, B, Tier.HBM);
    later.assume(B, held);
    BlockAudit.audit(later);
    assertThat(matched(later, "system old", B)).isEqualTo(10);
    assertThat(matched(later, "else where", B)).as("but for the hole").isEqualTo(4);
    later.capacity(B, 18);
    BlockAudit.audit(later);
    assertThat(matched(later, "system new", B)).isEqualTo(10);
    assertThat(matched(later, "system old", B)).as("guesses go first").isEqualTo(7);
  }

  @Test
  void nothingIsEvictedForGuessesAndTheNewestFitFirst() throws IOException {
    Random random = new Random(3);
    for (int i = 0; i < 400; i++) {
      ticker.advance(Duration.ofMillis(100));
      store(index, randomText(random), A, Tier.HBM);
    }
    String last = randomText(random);
    ticker.advance(Duration.ofMillis(100));
    store(index, last, A, Tier.HBM);
    HeldBlocks held = again(index.held(A, ALL));
    BlockIndex small = BlockIndex.builder().budgetBytes(256 << 10).ticker(ticker).build();
    store(small, "mine", A, Tier.HBM);
    small.assume(B, held);
    BlockAudit.audit(small);
    assertThat(small.stats().evicted()).isZero();
    assertThat(small.stats().holdings()).isBetween(500L, (long) held.size() - 1);
    assertThat(matched(small, last, B)).isEqualTo(60);
    assertThat(matched(small, "mine", A)).isEqualTo(4);
    BlockIndex bounded = BlockIndex.builder().ticker(ticker).build();
    bounded.capacity(B, 75);
    bounded.assume(B, held);
    BlockAudit.audit(bounded);
    assertThat(matched(bounded, last, B)).isEqualTo(60);
    assertThat(bounded.stats().holdings()).isEqualTo(75);
    assertThat(bounded.stats().overCapacity()).isZero();
  }

  private static String randomText(Random random) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 60; i++) {
      text.append((char) ('a' + random.nextInt(26)));
    }
    return text.toString();
  }

  @Test
  void anEngineThatTellsItselfIsNotGuessedOf() throws IOException {
    store(index, "system", A, Tier.HBM);
    HeldBlocks held = again(index.held(A, ALL));
    BlockIndex later = BlockIndex.builder().ticker(ticker).build();
    later.makeAuthoritative(B, Chains.MODEL.namespace());
    later.assume(B, held);
    assertThat(matched(later, "system", B)).isZero();
    store(later, "sys", B, Tier.HBM);
    later.clearGuesses(B);
    assertThat(matched(later, "system", B)).isEqualTo(3);
    later.endAuthority(B);
    later.clearGuesses(B);
    assertThat(matched(later, "system", B)).isZero();
  }

  @Test
  void aLifeThatIsOverIsGivenNothing() throws IOException {
    store(index, "system", A, Tier.HBM);
    HeldBlocks held = again(index.held(A, ALL));
    index.drop(A);
    index.assume(A, held);
    assertThat(matched(index, "system", A)).isZero();
  }

  @Test
  void anyDamageIsNoticed() throws IOException {
    store(index, "system user", A, Tier.HBM);
    store(index, "system tool", A, Tier.HBM);
    byte[] good = written(index.held(A, ALL));
    for (int i = 0; i < good.length; i++) {
      byte[] bad = good.clone();
      bad[i] ^= 0x20;
      assertThatExceptionOfType(IOException.class).as("byte %s", i).isThrownBy(() -> read(bad));
      byte[] cut = Arrays.copyOf(good, i);
      assertThatExceptionOfType(IOException.class).as("cut at %s", i).isThrownBy(() -> read(cut));
    }
    byte[] longer = Arrays.copyOf(good, good.length + 1);
    assertThatExceptionOfType(IOException.class).isThrownBy(() -> read(longer));
    assertThatExceptionOfType(IOException.class)
        .isThrownBy(() -> read(new byte[(int) BlockIndexFile.MOST_BYTES + 1]))
        .withMessageContaining("longer");
  }

  @Test
  void wrongNumbersUnderARightSumNeitherPassNorTakeMemory() throws IOException {
    store(index, "system user", A, Tier.HBM);
    store(index, "system tool", A, Tier.HBM);
    byte[] good = written(index.held(A, ALL));
    Random random = new Random(5);
    for (int i = 8; i < good.length - 8; i++) {
      byte[] bad = good.clone();
      bad[i] = (byte) random.nextInt();
      CRC32 sum = new CRC32();
      sum.update(bad, 0, bad.length - 8);
      ByteBuffer.wrap(bad).putLong(bad.length - 8, sum.getValue());
      try {
        for (BlockIndexFile.Rank rank : read(bad).ranks()) {
          BlockIndex later = BlockIndex.builder().ticker(ticker).build();
          later.assume(B, rank.held());
          BlockAudit.audit(later);
        }
      } catch (IOException e) {
        assertThat(e).hasMessageNotContaining("version");
      }
    }
  }
}
