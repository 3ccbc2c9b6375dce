package dev.warmpath.prompt;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.hash.BlockHashes;
import dev.warmpath.hash.HashParams;
import dev.warmpath.hash.HashScheme;
import dev.warmpath.hash.HashSchemes;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

/** Chains that go on from remembered places are those that begin anew. */
class ChainCacheTest {
  private static final List<String> ENGINES =
      List.of("vllm-sha256", "sglang-event", "atom", "dynamo");

  /** Segments as a chat has them: an added token, then text; places by what comes before. */
  private static SegmentCache.Encoded encoded(int tokenizer, List<int[]> messages) {
    int count = 2 * messages.size();
    List<int[]> parts = new ArrayList<>();
    boolean[] added = new boolean[count];
    long[] high = new long[count];
    long[] low = new long[count];
    int size = 0;
    long before = 1;
    for (int[] message : messages) {
      parts.add(message);
      parts.add(new int[] {7});
      size += message.length + 1;
      before = before * 31 + message[0];
      int at = parts.size() - 1;
      added[at] = true;
      high[at] = before;
      low[at] = ~before;
    }
    return new SegmentCache.Encoded(tokenizer, new TokenSegments(parts, size), added, high, low);
  }

  private static int[] message(int number, int tokenizer) {
    return new SplittableRandom(number * 2L + tokenizer)
        .ints(40 + number % 50, 0, 100_000)
        .toArray();
  }

  private static int[] named(int number, int tokenizer) {
    int[] ids = message(number, tokenizer);
    ids[0] = number;
    return ids;
  }

  private static HashScheme engine(String name, String salt) {
    return HashSchemes.byName(name, HashParams.builder().blockSize(16).cacheSalt(salt).build());
  }

  private static void assertSame(BlockHashes hashes, HashScheme scheme, SegmentCache.Encoded text) {
    BlockHashes anew = new ChainCache(0).chain(scheme, text).hashes();
    assertThat(hashes.namespace()).isEqualTo(scheme.namespace());
    assertThat(hashes.size()).isEqualTo(anew.size()).isEqualTo(text.segments().size() / 16);
    for (int block = 0; block < hashes.size(); block++) {
      assertThat(hashes.bits(block)).isEqualTo(anew.bits(block));
      assertThat(hashes.digestHex(block)).isEqualTo(anew.digestHex(block));
    }
  }

  /** Conversations that grow and are cut, under salts and engines that change. */
  @Property(tries = 40)
  void whatIsRememberedIsWhatIsHashedAnew(@ForAll long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    ChainCache cache = new ChainCache(random.nextBoolean() ? 1 << 22 : random.nextInt(20_000));
    List<Integer> conversation = new ArrayList<>(List.of(1));
    for (int turn = 0; turn < 15; turn++) {
      if (random.nextInt(4) == 0) {
        conversation = new ArrayList<>(conversation.subList(0, (conversation.size() + 1) / 2));
      }
      conversation.add(random.nextInt(6));
      int tokenizer = random.nextInt(2);
      SegmentCache.Encoded text =
          encoded(tokenizer, conversation.stream().map(n -> named(n, tokenizer)).toList());
      String name = ENGINES.get(random.nextInt(ENGINES.size()));
      HashScheme scheme = engine(name, random.nextBoolean() ? null : "salt" + random.nextInt(2));
      assertSame(cache.chain(scheme, text).hashes(), scheme, text);
    }
  }

  @Test
  void goesOnOnlyWithinATokenizerAndANamespace() {
    ChainCache cache = new ChainCache(1 << 20);
    assertThat(cache.hitRate()).isEqualTo(1);
    SegmentCache.Encoded first = encoded(0, List.of(named(1, 0), named(2, 0)));
    SegmentCache.Encoded longer = encoded(0, List.of(named(1, 0), named(2, 0), named(3, 0)));
    cache.chain(engine("vllm-sha256", null), first);
    assertThat(cache.hitRate()).isZero();
    cache.chain(engine("vllm-sha256", "s"), longer);
    cache.chain(engine("sglang-event", null), longer);
    cache.chain(
        engine("vllm-sha256", null), encoded(1, List.of(named(1, 1), named(2, 1), named(3, 1))));
    assertThat(cache.hitRate()).isZero();
    cache.chain(engine("vllm-sha256", null), longer);
    assertThat(cache.hitRate()).isEqualTo(1 / 5.0);
  }

  @Test
  void digestsCountAgainstTheBudget() {
    ChainCache digests = new ChainCache(1 << 20);
    ChainCache numbers = new ChainCache(1 << 20);
    SegmentCache.Encoded text = encoded(0, List.of(named(1, 0), named(2, 0)));
    int blocks = digests.chain(engine("vllm-sha256", null), text).hashes().size();
    numbers.chain(engine("atom", null), text);
    assertThat(digests.bytes() - numbers.bytes()).isEqualTo(32L * blocks);
    ChainCache small = new ChainCache(5_000);
    for (int i = 0; i < 200; i++) {
      small.chain(engine("vllm-sha256", null), encoded(0, List.of(named(i, 0), named(i, 0))));
      assertThat(small.bytes()).isLessThanOrEqualTo(5_000);
    }
  }
}
