package dev.warmpath;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.ScriptedTransport.Script;
import dev.warmpath.api.RouterRequest;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** What a client takes of its process: the figures of OPERATIONS.md. */
class FootprintTest {
  private static final String BODY =
      "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]}";

  private static Set<String> threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(Thread::isAlive)
        .map(Thread::getName)
        .filter(name -> name.startsWith("warmpath-"))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  @Test
  void aClientHasOneThreadAndUpToSixteenForProbesThatWait() {
    Set<String> before = threads();
    RouterClient.Builder builder =
        RouterClient.builder()
            .transport(new ScriptedTransport(request -> Script.ok("{\"choices\":[]}")));
    for (int i = 0; i < 64; i++) {
      builder.worker("http://w" + i + ":1;engine=vllm;model=m");
    }
    try (RouterClient router = builder.build()) {
      assertThat(router.awaitReady(Duration.ofSeconds(30))).isTrue();
      for (int i = 0; i < 100; i++) {
        router.send(RouterRequest.chatCompletions(BODY)); // on this thread
      }
      Set<String> mine = threads();
      mine.removeAll(before);
      assertThat(mine.stream().filter(name -> name.equals("warmpath-health"))).hasSizeLessThan(2);
      assertThat(mine).as("%s", mine).hasSizeLessThanOrEqualTo(17);
    }
  }

  @Test
  void theIndexesAndCachesOfAnEmptyClientAreSmallAndTheirBudgetsKnown() {
    try (RouterClient router =
        RouterClient.builder()
            .worker("http://w0:1")
            .transport(new ScriptedTransport(request -> Script.ok("{}")))
            .build()) {
      RouterClient.ClientStats stats = router.stats();
      long budget =
          stats.index().budgetBytes()
              + stats.blocks().budgetBytes()
              + stats.branches().budgetBytes();
      assertThat(budget).isBetween((64L << 20) - (1 << 20), 64L << 20);
    }
  }
}
