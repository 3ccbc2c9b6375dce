package dev.warmpath.fake.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.fake.scheduler.ExtendAdmission.Extend;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ExtendAdmissionTest {
  private final List<RadixSequence> running = new ArrayList<>();
  private RadixKv kv = kv(2_500);
  private SglangQueue queue = new SglangQueue(new PassMeter());

  private static CoreOptions options(int pages) {
    return CoreOptions.builder().numBlocks(pages).blockSize(4).build();
  }

  private static RadixKv kv(int pages) {
    return new RadixKv(options(pages));
  }

  private RadixSequence sequence(long id, int length, int output) {
    int first = (int) id * 1000;
    EngineRequest request =
        new EngineRequest(id, IntStream.range(first, first + length).toArray(), new int[output], 0);
    return new RadixSequence(request, output, 4, kv.pool().root());
  }

  private RadixSequence wait(long id, int length, int output) {
    RadixSequence sequence = sequence(id, length, output);
    queue.append(sequence);
    return sequence;
  }

  private RadixSequence run(long id, int length, int output) {
    RadixSequence sequence = sequence(id, length, output);
    assertThat(kv.hold(sequence, length)).isTrue();
    sequence.computed = length;
    running.add(sequence);
    return sequence;
  }

  private List<Extend> admit(int chunk, int prefill, double ratio) {
    SglangOptions options =
        SglangOptions.builder(options(kv.pool().capacity()))
            .chunkedPrefillSize(chunk)
            .maxPrefillTokens(prefill)
            .build();
    return List.copyOf(new ExtendAdmission(options, kv, queue).admit(running, ratio, false));
  }

  private List<Extend> admit(int chunk) {
    return admit(chunk, 16_384, 0.7);
  }

  private static List<Long> ids(List<Extend> batch) {
    return batch.stream().map(extend -> extend.sequence().id()).toList();
  }

  @Test
  void aPromptUpToTheChunkIsComputedWholeAndHoldsWholePages() {
    RadixSequence sequence = wait(1, 6, 3);

    assertThat(admit(8)).hasSize(1);

    assertThat(sequence.computed).isEqualTo(6);
    assertThat(sequence.pages() * 4).isEqualTo(8);
  }

  @Test
  void aPromptThatExceedsThePoolStillGetsItsFirstChunk() {
    kv = kv(3);
    RadixSequence sequence = wait(1, 16, 2);

    assertThat(admit(8)).hasSize(1);

    assertThat(sequence.computed).isEqualTo(8);
    assertThat(sequence.begun()).isTrue();
  }

  @Test
  void aPartOfAPageInTheChunkBudgetIsNotUsed() {
    wait(1, 7, 3);
    RadixSequence second = wait(2, 8, 3);

    assertThat(ids(admit(8))).containsExactly(1L);

    assertThat(queue.head()).isSameAs(second);
    assertThat(second.pages()).isZero();
  }

  @Test
  void aLongPromptTakesTheWholePagesThatAreLeft() {
    wait(1, 5, 3);
    RadixSequence second = wait(2, 30, 3);
    wait(3, 2, 3);

    List<Extend> batch = admit(16);

    assertThat(ids(batch)).containsExactly(1L, 2L);
    assertThat(second.computed).isEqualTo(8);
    assertThat(queue.head()).extracting(RadixSequence::id).isEqualTo(3L);
  }

  @Test
  void aPromptUpToTheChunkIsNeverSplit() {
    wait(1, 5, 3);
    wait(2, 16, 3);

    assertThat(ids(admit(16))).containsExactly(1L);
  }

  @Test
  void promptsOfAPassShareThePrefillBudgetButTheFirstIsAlwaysLet() {
    wait(1, 12, 1);
    wait(2, 8, 1);
    wait(3, 8, 1);
    assertThat(ids(admit(64, 16, 0.7))).containsExactly(1L);
    assertThat(ids(admit(64, 16, 0.7))).containsExactly(2L, 3L);

    wait(4, 40, 1);
    assertThat(ids(admit(64, 16, 0.7))).containsExactly(4L);
  }

  @Test
  void chargeMustBeLessThanWhatIsLeft() {
    kv = kv(4);
    wait(1, 6, 8);
    assertThat(admit(8)).as("8 + 8 is not less than 16").isEmpty();

    queue = new SglangQueue(new PassMeter());
    wait(1, 6, 7);
    assertThat(admit(8)).hasSize(1);
  }

  @Test
  void outputIsReservedForEveryAdmittedRequestAndForTheRunningOnesInPart() {
    kv = kv(10);
    RadixSequence decoding = run(9, 7, 10);
    // 40 - 8 held - 1 of a page's slack - 10 * 0.7 = 24
    assertThat(decoding.pages()).isEqualTo(2);
    wait(1, 4, 8);
    wait(2, 4, 8);

    assertThat(ids(admit(64))).as("12 < 24, then 12 is not < 12").containsExactly(1L);

    kv.release(queue.head());
    kv = kv(10);
    queue = new SglangQueue(new PassMeter());
    running.clear();
    run(9, 7, 10);
    wait(1, 4, 8);
    wait(2, 4, 8);
    assertThat(ids(admit(64, 16_384, 0.5))).as("12 < 14").containsExactly(1L, 2L);
  }

  @Test
  void outputIsClipped() {
    kv = kv(2_000);
    wait(1, 4, 100_000);
    wait(2, 4, 100_000);

    assertThat(ids(admit(64))).as("4100 < 8000, then 4100 is not < 3900").containsExactly(1L);
  }

  @Test
  void aChunkThatDoesNotFinishThePromptReservesNoOutput() {
    kv = kv(4);
    RadixSequence sequence = wait(1, 12, 14);

    assertThat(admit(8)).hasSize(1);
    queue.giveBack(sequence);

    assertThat(admit(8)).as("4 + 14 is not less than 8").isEmpty();
    assertThat(sequence.pages()).as("keeps what it has").isEqualTo(2);
  }

  @Test
  void whatTheCacheHasCostsNothingButIsLockedFirst() {
    kv = kv(8);
    RadixSequence seed = sequence(1, 16, 1);
    assertThat(kv.hold(seed, 16)).isTrue();
    seed.computed = 16;
    kv.publish(seed);
    kv.release(seed);
    EngineRequest longer =
        new EngineRequest(2, IntStream.range(1000, 1020).toArray(), new int[3], 0);
    queue.append(new RadixSequence(longer, 3, 4, kv.pool().root()));

    List<Extend> batch = admit(8);

    assertThat(batch).hasSize(1);
    assertThat(batch.get(0).prefixTokens()).isEqualTo(16);
    assertThat(batch.get(0).computedTokens()).isEqualTo(4);
    assertThat(kv.pool().locked()).isEqualTo(4);
    assertThat(kv.pool().privatePages()).isEqualTo(1);
  }

  @Test
  void aCachedPromptStillComputesItsLastPage() {
    RadixSequence seed = sequence(1, 16, 1);
    assertThat(kv.hold(seed, 16)).isTrue();
    seed.computed = 16;
    kv.publish(seed);
    kv.release(seed);
    wait(1, 16, 1);

    List<Extend> batch = admit(64);

    assertThat(batch.get(0).prefixTokens()).isEqualTo(12);
    assertThat(batch.get(0).computedTokens()).isEqualTo(4);
  }

  @Test
  void aFullRunningSetAdmitsNobody() {
    SglangOptions options =
        SglangOptions.builder(
                CoreOptions.builder().numBlocks(100).blockSize(4).maxNumSeqs(2).build())
            .build();
    run(9, 4, 4);
    wait(1, 4, 4);
    wait(2, 4, 4);
    ExtendAdmission admission = new ExtendAdmission(options, kv, queue);

    assertThat(admission.admit(running, 0.7, false)).hasSize(1);
    run(8, 4, 4);
    assertThat(admission.admit(running, 0.7, false)).isEmpty();
  }

  @Test
  void aRequestThatGrewBeyondItsPromiseIsLetInAlone() {
    kv = kv(4);
    RadixSequence retracted = sequence(1, 8, 7);
    retracted.generated = 1;
    retracted.admitted = true;
    queue.append(retracted);

    assertThat(admit(64)).as("12 + 6 is not less than 16").hasSize(1);
  }
}
