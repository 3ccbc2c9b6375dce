package dev.warmpath.health;

import dev.warmpath.worker.WorkerRank;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.junit.jupiter.api.Test;

/** Concurrent counts are those of some order of the calls. */
@Param(name = "request", gen = IntGen.class, conf = "0:2")
public class RankStateLincheckTest {
  private static final long NOT_RUNNING = -1;
  private static final LoadSnapshot READING =
      new LoadSnapshot(FakeTransport.load(-1, 1, 0), 0, "test");

  private static final WorkerRank RANK = RankStateTest.rank();

  private final RankState state = new RankState(RANK);
  private final AtomicLongArray begun =
      new AtomicLongArray(new long[] {NOT_RUNNING, NOT_RUNNING, NOT_RUNNING});

  @Operation(params = "request", nonParallelGroup = "requests")
  public int beginOrEnd(int request) {
    long value = begun.get(request);
    if (value == NOT_RUNNING) {
      begun.set(request, state.begin(1 << request, request == 0));
    } else {
      begun.set(request, NOT_RUNNING);
      state.computed(1 << request, value);
      state.end(value);
    }
    return state.inFlight();
  }

  @Operation(nonParallelGroup = "monitor")
  public void sampling() {
    state.sampling();
  }

  @Operation(nonParallelGroup = "monitor")
  public void observe() {
    state.observe(READING);
  }

  @Operation
  public int unseen() {
    return state.inFlightUnseen();
  }

  @Test
  void countsAreLinearizable() {
    new ModelCheckingOptions()
        .threads(2)
        .actorsPerThread(4)
        .iterations(15)
        .invocationsPerIteration(400)
        .check(getClass());
  }
}
