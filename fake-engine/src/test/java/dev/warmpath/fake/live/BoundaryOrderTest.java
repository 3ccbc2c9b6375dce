package dev.warmpath.fake.live;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.fake.scheduler.CommandResult;
import dev.warmpath.fake.scheduler.CommandResult.Outcome;
import dev.warmpath.fake.scheduler.EngineCommand;
import dev.warmpath.fake.scheduler.EngineEffect;
import dev.warmpath.fake.scheduler.EngineRequest;
import dev.warmpath.fake.scheduler.EventVisibility;
import dev.warmpath.fake.scheduler.FinishReason;
import dev.warmpath.fake.scheduler.StorageTier;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The order in which everything shows at the boundaries of passes, without a thread. */
class BoundaryOrderTest {
  private static final EngineEffect ADMITTED = new EngineEffect.Admitted(1, 0);
  private static final EngineEffect STORED =
      new EngineEffect.BlocksStored(
          StorageTier.DEVICE, 0, true, new long[] {7}, new int[] {1, 2, 3, 4});
  private static final EngineEffect REMOVED = new EngineEffect.BlockRemoved(StorageTier.DEVICE, 7);
  private static final EngineEffect TOKEN = new EngineEffect.Output(1, 1, null);
  private static final EngineEffect HELD = new EngineEffect.SourceHeld(5, 1, 2);
  private static final EngineEffect RESERVED = new EngineEffect.DestinationReserved(6, 2, 8);
  private static final EngineRequest REQUEST = new EngineRequest(2, new int[8], new int[1], 0);

  private final BoundaryLog log = new BoundaryLog();

  private static class Receiver implements RankListener {
    boolean gone;

    @Override
    public void admitted(int reusedTokens) {}

    @Override
    public void output(int tokens, @Nullable FinishReason finish) {}

    @Override
    public boolean connected() {
      return !gone;
    }
  }

  private RankProcess process(ScriptedCore core) {
    RankProcess process = new RankProcess(new RankSettings(3, true, 8, log), core, 0);
    log.clear();
    return process;
  }

  private static void begin(RankProcess process, RankListener listener) {
    process.post(
        new EngineCommand.Submit(new EngineRequest(1, new int[4], new int[4], 0)), listener, null);
    process.advance(0);
  }

  /** First row of the table: SGLang's visibility, a command during the pass, a receiver gone. */
  @Test
  void passThatShowsAtItsEnd() {
    ScriptedCore core = new ScriptedCore(EventVisibility.PASS_END);
    core.passes.add(new ScriptedCore.Pass(10, List.of(ADMITTED), List.of(TOKEN, STORED, HELD)));
    core.answer =
        command ->
            command instanceof EngineCommand.Cancel
                ? new CommandResult(Outcome.APPLIED, List.of(REMOVED))
                : new CommandResult(Outcome.SUBMITTED, List.of());
    RankProcess process = process(core);
    Receiver receiver = new Receiver();
    begin(process, receiver);
    process.offer(new EngineCommand.SubmitHandoffPrefill(9, REQUEST), RankListener.NONE, null);
    process.advance(4);
    receiver.gone = true;
    process.advance(10);

    assertThat(log.kinds())
        .containsExactly(
            "Admissions",
            "Ack",
            "KV",
            "FPM",
            "Outputs",
            "Accounting",
            "KV",
            "Lifecycle",
            "Metrics");
    assertThat(log.entries()).extracting(BoundaryLog.Entry::timeMs).startsWith(0.0, 4.0, 10.0);
    assertThat(log.of("KV"))
        .extracting(BoundaryLog.Entry::content)
        .satisfiesExactly(
            first -> assertThat(first).startsWith("[0:BlocksStored"),
            second -> assertThat(second).startsWith("[1:BlockRemoved"));
    assertThat(core.calls).contains("Cancel mid-pass@10.0");
  }

  /** Second row: vLLM's visibility, and a command during the pass that changes the cache. */
  @Test
  void passThatShowsAtItsStart() {
    ScriptedCore core = new ScriptedCore(EventVisibility.PASS_START);
    core.passes.add(new ScriptedCore.Pass(10, List.of(ADMITTED, STORED), List.of(TOKEN, HELD)));
    core.answer =
        command ->
            command instanceof EngineCommand.ReserveDestination
                ? new CommandResult(Outcome.DESTINATION_ACCEPTED, List.of(REMOVED))
                : new CommandResult(Outcome.SUBMITTED, List.of());
    RankProcess process = process(core);
    begin(process, new Receiver());
    process.offer(new EngineCommand.ReserveDestination(6, REQUEST), RankListener.NONE, null);
    process.advance(4);
    process.advance(10);

    assertThat(log.kinds())
        .containsExactly(
            "Admissions",
            "KV",
            "FPM",
            "Ack",
            "KV",
            "Outputs",
            "Accounting",
            "Lifecycle",
            "Metrics");
    assertThat(log.entries())
        .extracting(BoundaryLog.Entry::timeMs)
        .containsExactly(0.0, 0.0, 0.0, 4.0, 10.0, 10.0, 10.0, 10.0, 10.0);
  }

  /** Third row: a command between two passes never answers before its cache changes show. */
  @Test
  void commandBetweenPasses() {
    ScriptedCore core = new ScriptedCore(EventVisibility.PASS_START);
    core.answer =
        command -> new CommandResult(Outcome.DESTINATION_ACCEPTED, List.of(REMOVED, RESERVED));
    RankProcess process = process(core);
    process.offer(
        new EngineCommand.ReserveDestination(6, REQUEST),
        RankListener.NONE,
        result -> assertThat(log.kinds()).containsExactly("KV", "Ack"));
    process.advance(3);

    assertThat(log.kinds()).containsExactly("KV", "Ack", "Lifecycle", "Metrics");
  }

  /** What a command during a pass means for handoffs shows when the pass ends, and once. */
  @Test
  void lifecycleOfACommandDuringAPassWaits() {
    ScriptedCore core = new ScriptedCore(EventVisibility.PASS_START);
    core.passes.add(new ScriptedCore.Pass(10, List.of(ADMITTED), List.of(TOKEN)));
    core.answer =
        command ->
            command instanceof EngineCommand.ReserveDestination
                ? new CommandResult(Outcome.DESTINATION_ACCEPTED, List.of(RESERVED))
                : new CommandResult(Outcome.SUBMITTED, List.of());
    RankProcess process = process(core);
    begin(process, new Receiver());
    process.offer(new EngineCommand.ReserveDestination(6, REQUEST), RankListener.NONE, null);
    process.advance(4);
    assertThat(log.kinds()).containsExactly("Admissions", "FPM", "Ack");
    process.advance(10);

    assertThat(log.kinds())
        .containsExactly(
            "Admissions", "FPM", "Ack", "Outputs", "Accounting", "Lifecycle", "Metrics");
    assertThat(log.of("Lifecycle")).hasSize(1);
  }

  /** Event ids count without gaps over passes, commands, transfers and cleanups. */
  @Test
  void eventIdsHaveNoGaps() {
    ScriptedCore core = new ScriptedCore(EventVisibility.PASS_START);
    core.passes.add(
        new ScriptedCore.Pass(10, List.of(ADMITTED, STORED, REMOVED), List.of(TOKEN, STORED)));
    core.deadlineMs = 5;
    core.ticks.add(List.of(STORED));
    core.retries.add(List.of());
    core.retries.add(List.of(REMOVED, RESERVED));
    RankProcess process = process(core);
    begin(process, new Receiver());
    process.advance(5);
    process.advance(10);

    assertThat(log.of("KV"))
        .extracting(
            entry -> entry.content().replaceAll("BlocksStored\\[[^:]*]|BlockRemoved\\[[^:]*]", ""))
        .hasSize(4);
    assertThat(String.join("", log.of("KV").stream().map(BoundaryLog.Entry::content).toList()))
        .containsSubsequence("0:", "1:", "2:", "3:", "4:")
        .doesNotContain("5:");
  }
}
