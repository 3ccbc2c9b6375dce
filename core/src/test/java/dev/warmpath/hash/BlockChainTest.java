package dev.warmpath.hash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BlockChainTest {

  private static final int[] TOKENS = IntStream.range(0, 64).toArray();

  private static HashScheme scheme(String name) {
    return HashSchemes.byName(
        name, HashParams.builder().blockSize(16).seed("42").model("m").build());
  }

  @Test
  void statesStayWhileTheChainGoesOn() {
    BlockChain chain = scheme("sglang-event").newChain().append(TOKENS, 0, 40);
    ChainState state = chain.state();
    BlockHashes hashes = chain.hashes();
    long second = hashes.bits(1);
    chain.append(TOKENS);
    assertThat(chain.blocks()).isEqualTo(6);
    assertThat(state.tokens()).isEqualTo(40);
    assertThat(state.hashes().size()).isEqualTo(2);
    assertThat(hashes.bits(1)).isEqualTo(second);
    assertThat(state.fork().tokens()).isEqualTo(40);
  }

  @Test
  void forksOfOneStateDoNotMeet() {
    ChainState state = scheme("atom").newChain().append(TOKENS, 0, 32).state();
    BlockChain left = state.fork().append(TOKENS, 32, 64);
    BlockChain right = state.fork().append(TOKENS, 0, 32);
    assertThat(left.hashes().commonPrefix(right.hashes())).isEqualTo(2);
    assertThat(left.hashes().bits(2)).isNotEqualTo(right.hashes().bits(2));
    assertThat(left.hashes().bits(2))
        .isEqualTo(scheme("atom").newChain().append(TOKENS).hashes().bits(2));
  }

  @ParameterizedTest
  @ValueSource(strings = {"sglang-event", "vllm-sha256", "atom", "dynamo"})
  void forksOfLongChainsOfForksAreAsIfRecomputed(String name) {
    HashScheme scheme = scheme(name);
    int[] tokens = IntStream.range(0, 16 * 100).toArray();
    int[] all = tokens;
    ChainState state = scheme.newChain(Retention.DIGESTS).append(tokens).state();
    for (int depth = 1; depth <= 7; depth++) {
      for (int fork = 0; fork < 3; fork++) { // which take each other's places
        int salt = 10_000 * depth + 1_000 * fork;
        int[] more = IntStream.range(salt, salt + 16 * (60 + 7 * depth)).toArray();
        BlockHashes forked = state.fork().append(more).hashes();
        BlockHashes recomputed =
            scheme.newChain(Retention.DIGESTS).append(all).append(more).hashes();
        assertThat(forked.size()).isEqualTo(recomputed.size());
        assertThat(forked.commonPrefix(recomputed)).isEqualTo(forked.size());
        for (int block = 0; block < forked.size(); block++) {
          assertThat(forked.bits(block)).isEqualTo(recomputed.bits(block));
          assertThat(forked.digestHex(block)).isEqualTo(recomputed.digestHex(block));
        }
        long[] copied = new long[forked.size()];
        forked.copyBits(0, copied.length, copied, 0);
        assertThat(copied[copied.length - 1]).isEqualTo(recomputed.bits(copied.length - 1));
      }
      int[] turn = IntStream.range(77 * depth, 77 * depth + 16 * (60 + depth)).toArray();
      all = IntStream.concat(IntStream.of(all), IntStream.of(turn)).toArray();
      state = state.fork().append(turn).state();
    }
  }

  @Test
  void forksOfWideChainsCopyNothing() {
    int[] tokens = IntStream.range(0, 16 * 2_000).toArray();
    ChainState state = scheme("sglang-event").newChain(Retention.DIGESTS).append(tokens).state();
    long whole = state.retainedBytes();
    for (int i = 0; i < 3; i++) {
      ChainState fork = state.fork().append(TOKENS).state();
      assertThat(fork.retainedBytes() - whole).isLessThan(2_000);
    }
  }

  @Test
  void growingConversationsShareMemory() {
    BlockChain first = scheme("atom").newChain();
    for (int i = 0; i < 100; i++) {
      first.append(TOKENS);
    }
    ChainState state = first.state();
    ChainState next = state.fork().append(TOKENS).state();
    assertThat(next.hashes().store()).isSameAs(state.hashes().store());
    assertThat(next.retainedBytes()).isBetween(404L * Long.BYTES, 1000L * Long.BYTES);
    // A second fork finds the place taken.
    assertThat(state.fork().append(TOKENS).hashes().store()).isNotSameAs(state.hashes().store());
  }

  @Test
  void prefixesAreViews() {
    BlockHashes hashes = scheme("atom").newChain().append(TOKENS).hashes();
    BlockHashes prefix = hashes.prefix(2);
    assertThat(prefix.size()).isEqualTo(2);
    assertThat(prefix.commonPrefix(hashes)).isEqualTo(2);
    assertThatThrownBy(() -> prefix.bits(2)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> hashes.prefix(5)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThat(hashes.prefix(4).size()).isEqualTo(4);
  }

  @ParameterizedTest
  @ValueSource(strings = {"sglang-event", "vllm-sha256", "atom"})
  void finishedChainsTakeNoMore(String name) {
    BlockChain chain = scheme(name).newChain().append(TOKENS, 0, 20).finish();
    assertThat(chain.blocks()).isEqualTo(1);
    assertThatThrownBy(() -> chain.append(TOKENS)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> chain.append(new long[] {1}))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(chain::state).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(chain::finish).isInstanceOf(IllegalStateException.class);
    assertThat(chain.hashes().size()).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"sglang-event", "sglang-hicache", "fake-sglang", "dynamo", "llmd"})
  void refusesIdsTooWideForTheScheme(String name) {
    BlockChain chain = scheme(name).newChain().append(TOKENS, 0, 3);
    assertThatThrownBy(() -> chain.append(new long[] {1, 1L << 32}))
        .isInstanceOf(TokenRangeException.class)
        .hasMessageContaining("4294967296")
        .hasMessageContaining("position 4")
        .hasMessageContaining(name);
    assertThat(chain.tokens()).isEqualTo(3);
    assertThat(chain.append(new long[] {(1L << 32) - 1}).tokens()).isEqualTo(4);
  }

  @Test
  void refusesNegativeIds() {
    for (String name : HashSchemes.names()) {
      BlockChain chain = scheme(name).newChain();
      assertThatThrownBy(() -> chain.append(new long[] {-1}))
          .isInstanceOf(TokenRangeException.class);
    }
  }

  @Test
  void refusesExtrasThatComeTooLate() {
    BlockChain chain = scheme("vllm-sha256").newChain().append(TOKENS, 0, 20);
    assertThatThrownBy(() -> chain.add(new MultimodalItem("img", 10, 8)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("16");
    assertThatThrownBy(() -> chain.add(new PromptEmbeds(0, "00".repeat(32))))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> chain.add(new ExtraKeys(0, List.of())))
        .isInstanceOf(IllegalStateException.class);
    chain.add(new MultimodalItem("img", 16, 8)).add(new PromptEmbeds(1, "00".repeat(32)));
    assertThat(chain.append(TOKENS).blocks()).isEqualTo(5);
  }

  @Test
  void extrasCountOnlyWhereEnginesHashThem() {
    MultimodalItem item = new MultimodalItem("img", 0, 4);
    for (String name : HashSchemes.names()) {
      BlockHashes plain = scheme(name).newChain().append(TOKENS).hashes();
      BlockHashes withItem = scheme(name).newChain().add(item).append(TOKENS).hashes();
      boolean ignored = name.contains("sglang") || name.equals("atom");
      assertThat(withItem.commonPrefix(plain)).as(name).isEqualTo(ignored ? 4 : 0);
    }
  }

  @Test
  void pickledTextsMustDiffer() {
    MultimodalItem first = new MultimodalItem("img", 16, 4);
    MultimodalItem second = new MultimodalItem("img", 24, 4);
    BlockChain chain = scheme("vllm-sha256").newChain().add(first).add(second);
    assertThatThrownBy(() -> chain.append(TOKENS))
        .isInstanceOf(UnreproducibleHashException.class)
        .hasMessageNotContaining("img");
    assertThat(chain.hashes().size()).isEqualTo(1);
    assertThatThrownBy(() -> chain.append(TOKENS)).isInstanceOf(IllegalStateException.class);
    // CBOR writes a text twice; in blocks of their own they are no trouble for pickle either.
    assertThat(scheme("vllm-sha256-cbor").newChain().add(first).add(second).append(TOKENS).blocks())
        .isEqualTo(4);
    assertThat(
            scheme("vllm-sha256")
                .newChain()
                .add(first)
                .add(new MultimodalItem("img", 32, 4))
                .append(TOKENS)
                .blocks())
        .isEqualTo(4);
  }

  @Test
  void saltLikeTheAdapterCannotBePickled() {
    HashParams same = HashParams.builder().blockSize(16).loraName("same").cacheSalt("same").build();
    BlockChain chain = HashSchemes.byName("vllm-sha256", same).newChain();
    assertThatThrownBy(() -> chain.append(TOKENS))
        .isInstanceOf(UnreproducibleHashException.class)
        .hasMessageNotContaining("same text same");
  }

  @Test
  void aBlockMustFitOneFrame() {
    HashParams huge = HashParams.builder().blockSize(20_000).build();
    int[] wide = IntStream.range(0, 20_000).map(i -> 100_000 + i).toArray();
    BlockChain chain = HashSchemes.byName("vllm-sha256", huge).newChain();
    assertThatThrownBy(() -> chain.append(wide)).isInstanceOf(UnreproducibleHashException.class);
    assertThat(HashSchemes.byName("vllm-sha256-cbor", huge).newChain().append(wide).blocks())
        .isEqualTo(1);
  }

  @Test
  void aLongItemHidesThoseWithinItFromVllm() {
    MultimodalItem video = new MultimodalItem("video", 0, 64);
    MultimodalItem audio = new MultimodalItem("audio", 20, 4);
    MultimodalItem ending = new MultimodalItem("ending", 50, 4);
    HashScheme vllm = scheme("vllm-sha256");
    BlockHashes one = vllm.newChain().add(video).append(TOKENS).hashes();
    BlockHashes both = vllm.newChain().add(video).add(audio).append(TOKENS).hashes();
    assertThat(both.commonPrefix(one)).isEqualTo(4);
    // In the block where the long item ends, the next one has its turn.
    BlockHashes last = vllm.newChain().add(video).add(ending).append(TOKENS).hashes();
    assertThat(last.commonPrefix(one)).isEqualTo(3);
    BlockHashes llmd = scheme("llmd").newChain().add(video).add(audio).append(TOKENS).hashes();
    BlockHashes llmdOne = scheme("llmd").newChain().add(video).append(TOKENS).hashes();
    assertThat(llmd.commonPrefix(llmdOne)).isEqualTo(1);
  }

  @Test
  void digestsAreKeptOnDemand() {
    HashScheme vllm = scheme("vllm-sha256");
    BlockHashes reported = vllm.newChain().append(TOKENS).hashes();
    assertThatThrownBy(() -> reported.digestHex(0)).isInstanceOf(IllegalStateException.class);
    BlockHashes full = vllm.newChain(Retention.DIGESTS).append(TOKENS).hashes();
    assertThat(full.digestHex(3)).hasSize(64).endsWith(hex(full.bits(3)));
    assertThat(scheme("sglang-event").newChain(Retention.DIGESTS).append(TOKENS).hashes())
        .satisfies(hashes -> assertThat(hashes.digestHex(0)).startsWith(hex(hashes.bits(0))));
    assertThat(scheme("atom").newChain().append(TOKENS).hashes())
        .satisfies(hashes -> assertThat(hashes.digestHex(0)).isEqualTo(hex(hashes.bits(0))));
    assertThat(scheme("sglang-hicache").newChain().append(TOKENS).hashes())
        .satisfies(hashes -> assertThat(hashes.reported(1)).isEqualTo(hashes.digestHex(1)));
    assertThat(scheme("dynamo").newChain(Retention.DIGESTS).append(TOKENS).hashes().digestHex(0))
        .isNull();
    assertThatThrownBy(() -> reported.local(0)).isInstanceOf(IllegalStateException.class);
  }

  private static String hex(long bits) {
    return "%016x".formatted(bits);
  }

  @Test
  void refusesParentsOfTheWrongWidth() {
    assertThatThrownBy(() -> scheme("vllm-sha256").resume(new byte[8], 16, Retention.REPORTED))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("32");
    assertThatThrownBy(() -> scheme("atom").resume(new byte[8], -1, Retention.REPORTED))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void namesThePadTokenOfAnItem() {
    assertThat(HashSchemes.sglangPadToken(0)).isEqualTo(1_000_000);
    assertThat(HashSchemes.sglangPadToken(1L << 30)).isEqualTo(1_000_000);
    assertThat(HashSchemes.sglangPadToken(-1)).isEqualTo(1_000_000 + (1 << 30) - 1);
    assertThat(HashSchemes.sglangPadToken(55_902_462)).isEqualTo(56_902_462);
  }
}
