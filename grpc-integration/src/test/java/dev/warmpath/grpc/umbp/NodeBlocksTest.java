package dev.warmpath.grpc.umbp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.index.BlockAnswer;
import dev.warmpath.proto.umbp.ExternalKvNodeMatch;
import dev.warmpath.proto.umbp.MatchExternalKvResponse;
import dev.warmpath.proto.umbp.TierHashes;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.From;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

class NodeBlocksTest {
  private record Told(String node, int tier, int key) {}

  @Provide
  Arbitrary<Told> told() {
    return Combinators.combine(
            Arbitraries.of("a", "b", "c"),
            Arbitraries.of(0, 1, 2, 3, 77),
            Arbitraries.integers().between(0, 12))
        .as(Told::new);
  }

  /** Some keys of the prompt are equal, some that are told of are none of it. */
  @Property(tries = 500)
  void theRunIsThatOfASetOfKeysHoweverTheyAreToldAndChunked(
      @ForAll @Size(min = 1, max = 10) List<@IntRange(max = 9) Integer> keys,
      @ForAll @Size(max = 40) List<@From("told") Told> all,
      @ForAll @IntRange(min = 1, max = 10) int chunk) {
    NodeBlocks found = new NodeBlocks(keys.size());
    for (int from = 0; from < keys.size(); from += chunk) {
      int end = Math.min(keys.size(), from + chunk);
      Set<Integer> asked =
          IntStream.range(from, end)
              .filter(block -> found.ask(block, "k" + keys.get(block)))
              .mapToObj(keys::get)
              .collect(Collectors.toSet());
      assertThat(Collections.disjoint(asked, keys.subList(0, from))).isTrue();
      found.add(answer(all.stream().filter(told -> asked.contains(told.key())).toList()));
    }
    Map<String, Set<Integer>> held =
        all.stream()
            .collect(
                Collectors.groupingBy(
                    Told::node, Collectors.mapping(Told::key, Collectors.toSet())));
    for (BlockAnswer.Node node : found.nodes()) {
      Set<Integer> has = held.get(node.id());
      int run = 0;
      while (run < keys.size() && has.contains(keys.get(run))) {
        run++;
      }
      assertThat(node.blocks().run()).isEqualTo(run);
    }
    assertThat(found.anyHoldsFirst(keys.size()))
        .isEqualTo(held.values().stream().anyMatch(has -> has.containsAll(keys)));
    long holders =
        held.values().stream().filter(has -> keys.stream().anyMatch(has::contains)).count();
    assertThat((long) found.nodes().size()).isEqualTo(holders);
  }

  private static MatchExternalKvResponse answer(List<Told> told) {
    MatchExternalKvResponse.Builder answer = MatchExternalKvResponse.newBuilder();
    for (Told each : told) {
      answer.addMatches(
          ExternalKvNodeMatch.newBuilder()
              .setNodeId(each.node())
              .addHashesByTier(
                  TierHashes.newBuilder().setTierValue(each.tier()).addHashes("k" + each.key())));
    }
    return answer.build();
  }
}
