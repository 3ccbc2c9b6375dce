package dev.warmpath.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class CursorsTest {
  @Test
  void eachSetCountsByItself() {
    Cursors cursors = new Cursors(1);
    long first = cursors.take(10);
    long other = cursors.take(20);
    assertThat(cursors.take(10)).isEqualTo(first + 1);
    assertThat(cursors.take(10)).isEqualTo(first + 2);
    assertThat(cursors.take(20)).isEqualTo(other + 1);
    assertThat(cursors.size()).isEqualTo(2);
  }

  @Test
  void peekingTakesNothing() {
    Cursors cursors = new Cursors(1);
    long expected = cursors.peek(10);
    assertThat(cursors.size()).isZero();
    assertThat(cursors.take(10)).isEqualTo(expected);
    assertThat(cursors.peek(10)).isEqualTo(expected + 1);
    assertThat(cursors.take(10)).isEqualTo(expected + 1);
  }

  @Test
  void remembersABoundedNumberOfSetsAndGoesOnWhenFull() {
    Cursors cursors = new Cursors(1);
    for (long set = 0; set < 50_000; set++) {
      long peeked = cursors.peek(set);
      assertThat(cursors.take(set)).isEqualTo(peeked).isNotNegative();
    }
    assertThat(cursors.size()).isEqualTo(Cursors.CAPACITY);
    long first = cursors.take(-1);
    for (int i = 1; i < 100; i++) {
      assertThat(cursors.take(-1)).isEqualTo(first + i);
    }
  }

  @Test
  void aTurnIsGivenOnce() throws Exception {
    Cursors cursors = new Cursors(1);
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      List<Future<List<Long>>> taken = new ArrayList<>();
      for (int t = 0; t < 4; t++) {
        taken.add(
            threads.submit(
                () -> {
                  List<Long> mine = new ArrayList<>();
                  for (int i = 0; i < 5_000; i++) {
                    mine.add(cursors.take(7));
                  }
                  return mine;
                }));
      }
      Set<Long> all = new HashSet<>();
      for (Future<List<Long>> mine : taken) {
        all.addAll(mine.get());
      }
      assertThat(all).hasSize(20_000);
      assertThat(cursors.size()).isEqualTo(1);
    } finally {
      threads.shutdownNow();
    }
  }
}
