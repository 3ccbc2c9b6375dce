package dev.warmpath.hash;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;

/** What holds for chains of every scheme, however their tokens come. */
class BlockChainPropertyTest {

  /** A scheme with everything on that its engine hashes. */
  record Setup(String name, HashParams params) {

    HashScheme scheme() {
      return name.equals(ContentScheme.NAME)
          ? HashSchemes.content(params)
          : HashSchemes.byName(name, params);
    }
  }

  @Provide
  Arbitrary<Setup> setups() {
    List<String> names = new ArrayList<>(HashSchemes.names());
    names.add(ContentScheme.NAME);
    return Arbitraries.of(names)
        .flatMap(
            name ->
                Arbitraries.of(1, 2, 3, 5, 16, 33)
                    .flatMap(
                        block ->
                            Arbitraries.integers()
                                .between(0, 31)
                                .map(bits -> new Setup(name, params(name, block, bits)))));
  }

  private static HashParams params(String name, int block, int bits) {
    HashParams.Builder params =
        HashParams.builder().blockSize(block).seed("42").model("Qwen/Qwen3-0.6B");
    if ((bits & 1) != 0) {
      params.cacheSalt("tenant");
    }
    if ((bits & 2) != 0) {
      params.loraName("adapter");
    }
    if ((bits & 4) != 0) {
      params.eagle(true);
    }
    if ((bits & 8) != 0 && name.equals("llmd")) {
      params.algorithm("xxh64");
    }
    if ((bits & 16) != 0) {
      params.multimodalKeyStyle(MultimodalKeyStyle.BARE);
    }
    return params.build();
  }

  private static int[] tokens(Random random, int count) {
    return IntStream.range(0, count).map(i -> token(random)).toArray();
  }

  /** Ids of every width that the encodings tell apart. */
  private static int token(Random random) {
    return random.nextInt() >>> random.nextInt(Integer.SIZE);
  }

  @Property(tries = 400, seed = "42", edgeCases = EdgeCasesMode.NONE)
  void anySplitGivesTheSameHashes(
      @ForAll("setups") Setup setup, @ForAll @IntRange(max = 200) int count, @ForAll long seed) {
    Random random = new Random(seed);
    int[] tokens = tokens(random, count);
    HashScheme scheme = setup.scheme();
    BlockHashes whole = scheme.newChain(Retention.DIGESTS).append(tokens).hashes();

    BlockChain pieces = scheme.newChain(Retention.DIGESTS);
    for (int at = 0; at < count; ) {
      int end = at + random.nextInt(Math.min(count - at, 40) + 1);
      if (random.nextBoolean()) {
        pieces.append(tokens, at, end);
      } else {
        pieces.append(Arrays.stream(tokens, at, end).mapToLong(Integer::toUnsignedLong).toArray());
      }
      at = end;
      assertThat(pieces.tokens()).isEqualTo(at);
    }
    assertSame(pieces.hashes(), whole);
    int units = Math.max(0, count - scheme.lookAhead());
    assertThat(whole.size()).isEqualTo(units / scheme.blockTokens());
  }

  @Property(tries = 400, seed = "42", edgeCases = EdgeCasesMode.NONE)
  void forksGoOnAsIfRecomputed(
      @ForAll("setups") Setup setup, @ForAll @IntRange(max = 120) int count, @ForAll long seed) {
    Random random = new Random(seed);
    HashScheme scheme = setup.scheme();
    List<int[]> prompts = new ArrayList<>(List.of(tokens(random, count)));
    List<ChainState> states =
        new ArrayList<>(List.of(scheme.newChain(Retention.DIGESTS).append(prompts.get(0)).state()));
    for (int turn = 0; turn < 12; turn++) {
      int from = random.nextInt(states.size());
      int[] more = tokens(random, random.nextInt(60));
      int[] before = prompts.get(from);
      int[] prompt = Arrays.copyOf(before, before.length + more.length);
      System.arraycopy(more, 0, prompt, before.length, more.length);
      prompts.add(prompt);
      states.add(states.get(from).fork().append(more).state());
    }
    for (int i = 0; i < states.size(); i++) {
      BlockHashes recomputed = scheme.newChain(Retention.DIGESTS).append(prompts.get(i)).hashes();
      assertSame(states.get(i).hashes(), recomputed);
      assertThat(states.get(i).tokens()).isEqualTo(prompts.get(i).length);
      assertThat(states.get(i).hashes().commonPrefix(recomputed)).isEqualTo(recomputed.size());
    }
  }

  @Property(tries = 200, seed = "42", edgeCases = EdgeCasesMode.NONE)
  void itemsMayComeAtAnyTimeBeforeTheirBlocks(
      @ForAll("setups") Setup setup,
      @ForAll @IntRange(min = 1, max = 200) int count,
      @ForAll long seed) {
    Random random = new Random(seed);
    int[] tokens = tokens(random, count);
    HashScheme scheme = setup.scheme();
    List<MultimodalItem> items = new ArrayList<>();
    for (int at = random.nextInt(20); at < count; ) {
      int length = 1 + random.nextInt(50);
      // Two items in one block never share an identifier: pickle could not be reproduced.
      items.add(new MultimodalItem("image-" + items.size(), at, length));
      at += length + random.nextInt(20);
    }
    BlockChain early = scheme.newChain(Retention.DIGESTS);
    items.forEach(early::add);
    early.append(tokens);

    ChainState state = scheme.newChain(Retention.DIGESTS).state();
    int at = 0;
    for (MultimodalItem item : items) {
      int offset = (int) item.offset();
      BlockChain chain = state.fork().append(tokens, at, offset);
      // Its blocks may have begun before it, but none is complete.
      state = chain.add(item).state();
      at = offset;
    }
    BlockHashes late = state.fork().append(tokens, at, count).hashes();
    assertSame(late, early.hashes());
  }

  @Property(tries = 200, seed = "42", edgeCases = EdgeCasesMode.NONE)
  void resumedChainsGoOnFromTheDigest(
      @ForAll("setups") Setup setup,
      @ForAll @IntRange(min = 40, max = 120) int count,
      @ForAll long seed) {
    int[] tokens = tokens(new Random(seed), count);
    HashScheme scheme = setup.scheme();
    BlockChain head = scheme.newChain(Retention.DIGESTS).append(tokens, 0, 36);
    BlockHashes whole = scheme.newChain(Retention.DIGESTS).append(tokens).hashes();
    int done = head.blocks() * scheme.blockTokens();
    if (done == 0) {
      return;
    }
    byte[] link = head.state().link;
    BlockHashes tail =
        scheme.resume(link, done, Retention.DIGESTS).append(tokens, done, count).hashes();
    assertThat(tail.size()).isEqualTo(whole.size() - head.blocks());
    for (int i = 0; i < tail.size(); i++) {
      assertThat(tail.bits(i)).isEqualTo(whole.bits(head.blocks() + i));
    }
  }

  @Property(tries = 200, seed = "42", edgeCases = EdgeCasesMode.NONE)
  void wideIdsSplitAnyWay(
      @ForAll @IntRange(min = 1, max = 5) int block,
      @ForAll @IntRange(max = 40) int count,
      @ForAll long seed) {
    Random random = new Random(seed);
    long[] tokens =
        LongStream.range(0, count)
            .map(i -> random.nextLong() >>> (1 + random.nextInt(Long.SIZE - 1)))
            .toArray();
    HashParams params = HashParams.builder().blockSize(block).seed("42").wideTokens(true).build();
    for (String name : List.of("atom", "vllm-sha256", "vllm-xxhash-cbor", "sglang-event")) {
      HashScheme scheme = HashSchemes.byName(name, params);
      BlockHashes whole = scheme.newChain(Retention.DIGESTS).append(tokens).hashes();
      ChainState state = scheme.newChain(Retention.DIGESTS).state();
      for (int at = 0; at < count; ) {
        int end = at + 1 + random.nextInt(count - at);
        BlockChain chain = state.fork();
        long[] piece = Arrays.copyOfRange(tokens, at, end);
        if (Arrays.stream(piece).allMatch(id -> id <= HashScheme.UNSIGNED_INT_MAX)) {
          chain.append(Arrays.stream(piece).mapToInt(id -> (int) id).toArray());
        } else {
          chain.append(piece);
        }
        state = chain.state();
        assertThat(state.tokens()).isEqualTo(end);
        at = end;
      }
      assertSame(state.hashes(), whole);
      assertThat(whole.size()).isEqualTo(count / block);
    }
  }

  @Property(tries = 200, seed = "42", edgeCases = EdgeCasesMode.NONE)
  void whatIsHashedChangesTheHash(@ForAll("setups") Setup setup, @ForAll long seed) {
    Random random = new Random(seed);
    HashScheme scheme = setup.scheme();
    int[] tokens = tokens(random, 70);
    int[] other = tokens.clone();
    int changed = random.nextInt(70);
    other[changed] ^= 1 << random.nextInt(Integer.SIZE);
    BlockHashes hashes = scheme.newChain().append(tokens).hashes();
    BlockHashes others = scheme.newChain().append(other).hashes();
    int last = changed - scheme.lookAhead();
    int unchanged = Math.min(hashes.size(), Math.max(0, last) / scheme.blockTokens());
    assertThat(hashes.commonPrefix(others)).isEqualTo(unchanged);
    for (int i = unchanged; i < hashes.size(); i++) {
      assertThat(hashes.bits(i)).isNotEqualTo(others.bits(i));
    }
  }

  private static void assertSame(BlockHashes actual, BlockHashes expected) {
    assertThat(actual.size()).isEqualTo(expected.size());
    for (int i = 0; i < expected.size(); i++) {
      assertThat(actual.get(i)).isEqualTo(expected.get(i));
      assertThat(actual.digestHex(i)).isEqualTo(expected.digestHex(i));
      if (expected.scheme().hasLocalHashes()) {
        assertThat(actual.local(i)).isEqualTo(expected.local(i));
      }
    }
    long[] bits = new long[expected.size()];
    actual.copyBits(0, bits.length, bits, 0);
    assertThat(bits).isEqualTo(IntStream.range(0, bits.length).mapToLong(expected::bits).toArray());
  }

  @Property(tries = 100, seed = "42", edgeCases = EdgeCasesMode.NONE)
  void blockKeysAreItemsOfTheirBlock(@ForAll @IntRange(max = 3) int block, @ForAll long imageHash) {
    HashParams params = HashParams.builder().blockSize(4).model("m").build();
    int[] tokens = tokens(new Random(imageHash), 16);
    for (String name : List.of("dynamo", "llmd")) {
      String key = Long.toUnsignedString(imageHash);
      HashParams keyed = params.toBuilder().blockKeys(Map.of(block, List.of(key))).build();
      BlockHashes byKey = HashSchemes.open(name, keyed, Retention.REPORTED).append(tokens).hashes();
      String identifier = name.equals("llmd") ? key : DynamoScheme.identifier(imageHash);
      BlockHashes byItem =
          HashSchemes.byName(name, params)
              .newChain()
              .add(new MultimodalItem(identifier, 4L * block, 4))
              .append(tokens)
              .hashes();
      assertThat(byKey.commonPrefix(byItem)).isEqualTo(4);
      assertThat(DynamoScheme.imageHash(DynamoScheme.identifier(imageHash))).isEqualTo(imageHash);
    }
  }
}
