package dev.warmpath.health;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.health.ProbeRecord.Verdict;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every transition, as a table: P is a pass, F a failure, A proof of life by a request. */
class ProbeRecordTest {
  @ParameterizedTest
  @CsvSource({
    // UNTRIED
    "'', UNTRIED, false",
    "P, PASSING, true",
    "F, UNTRIED, false",
    "A, PASSING, true",
    // UNTRIED with one failure
    "FP, PASSING, true",
    "FF, FAILING, false",
    "FA, PASSING, true",
    // FAILING, never passed: the first pass ever counts at once
    "FFF, FAILING, false",
    "FFP, PASSING, true",
    "FFA, PASSING, true",
    // PASSING
    "PP, PASSING, true",
    "PF, PASSING, false",
    "PA, PASSING, true",
    // PASSING with one failure
    "PFP, PASSING, true",
    "PFF, FAILING, false",
    "PFA, PASSING, true",
    // a pass or a request between two failures wipes the first
    "PFPF, PASSING, false",
    "PFAF, PASSING, false",
    "PFPFF, FAILING, false",
    "PFAFF, FAILING, false",
    // FAILING, passed before: no pass yet
    "PFFF, FAILING, false",
    "PFFP, FAILING, false",
    "PFFA, PASSING, true",
    // one pass
    "PFFPF, FAILING, false",
    "PFFPP, FAILING, false",
    "PFFPA, PASSING, true",
    // two passes
    "PFFPPF, FAILING, false",
    "PFFPPP, PASSING, true",
    "PFFPPA, PASSING, true",
    // a failure between passes sends it back to the beginning
    "PFFPPFP, FAILING, false",
    "PFFPPFPP, FAILING, false",
    "PFFPPFPPP, PASSING, true",
    // what a request proved counts as a pass before
    "AFF, FAILING, false",
    "AFFP, FAILING, false",
    "AFFPPP, PASSING, true",
    // once back, it takes two failures again
    "PFFPPPF, PASSING, false",
    "PFFPPPFF, FAILING, false",
    "PFFAF, PASSING, false",
    "PFFAFF, FAILING, false",
  })
  void transitions(String signals, Verdict verdict, boolean settled) {
    ProbeRecord record = new ProbeRecord();
    for (int i = 0; i < signals.length(); i++) {
      char signal = signals.charAt(i);
      switch (signal) {
        case 'P' -> record.pass(3);
        case 'F' -> record.fail(2);
        default -> record.alive();
      }
    }
    assertThat(record.verdict()).as(record.toString()).isEqualTo(verdict);
    assertThat(record.settled()).isEqualTo(settled);
  }

  @ParameterizedTest
  @CsvSource({"1, 1, F, FAILING", "1, 1, FP, PASSING", "1, 2, PFP, FAILING", "3, 1, PFF, PASSING"})
  void thresholdsAreConfigurable(int toDown, int toUp, String signals, Verdict verdict) {
    ProbeRecord record = new ProbeRecord();
    for (int i = 0; i < signals.length(); i++) {
      char signal = signals.charAt(i);
      if (signal == 'P') {
        record.pass(toUp);
      } else {
        record.fail(toDown);
      }
    }
    assertThat(record.verdict()).isEqualTo(verdict);
  }
}
