package dev.warmpath.health;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.health.FleetJudge.Subject;
import dev.warmpath.health.ProbeRecord.Verdict;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.ServedModel;
import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerCapabilities;
import dev.warmpath.worker.WorkerId;
import dev.warmpath.worker.WorkerRegistry;
import dev.warmpath.worker.WorkerSpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FleetJudgeTest {
  private final WorkerRegistry registry = new WorkerRegistry();

  private Worker worker(String address) {
    return Objects.requireNonNull(registry.current().worker(WorkerId.parse(address)));
  }

  /**
   * A fleet in a line: for each worker its verdict (u untried, p passing, f failing), then what it
   * is: r, e or d for regular, prefill or decode, a capital when it drains, and its models.
   */
  private String judge(String fleet) {
    List<Subject> subjects = new ArrayList<>();
    for (String text : fleet.split(" ", -1)) {
      String address = "http://w" + subjects.size() + ":1";
      String role =
          switch (Character.toLowerCase(text.charAt(1))) {
            case 'e' -> "prefill";
            case 'd' -> "decode";
            default -> "regular";
          };
      registry.add(WorkerSpec.parse(address + ";role=" + role));
      registry.drain(WorkerId.parse(address), Character.isUpperCase(text.charAt(1)));
      List<ServedModel> models =
          text.length() < 4
              ? List.of()
              : Arrays.stream(text.substring(3).split(","))
                  .map(
                      name ->
                          name.startsWith("+")
                              ? new ServedModel(name, null, "m", null)
                              : ServedModel.named(name))
                  .toList();
      registry.discovered(
          worker(address).id(),
          worker(address).epoch(),
          new WorkerCapabilities(
              EngineKind.VLLM, null, null, models, null, null, null, null, null));
      subjects.add(
          new Subject(
              worker(address),
              switch (text.charAt(0)) {
                case 'p' -> Verdict.PASSING;
                case 'f' -> Verdict.FAILING;
                default -> Verdict.UNTRIED;
              }));
    }
    return FleetJudge.judge(subjects).stream()
        .map(Availability::label)
        .collect(Collectors.joining(" "));
  }

  @ParameterizedTest
  @CsvSource({
    "pr, up",
    "ur, unknown",
    "fr, suspect",
    // another can do its work
    "fr pr, down up",
    "fr ur, down unknown",
    "fr:m pr:m, down up",
    // nobody else can
    "fr fr fr, suspect suspect suspect",
    "fr pe pd, suspect up up",
    "fe pr pd, suspect up up",
    "fr pR, suspect up",
    "fr:m pr:n, suspect up",
    "fr:m pr, suspect up",
    // several models: one that nobody else serves is enough
    "'fr:m,n pr:m', suspect up",
    "'fr:m,n pr:m pr:n', down up up",
    "'fr:m,n fr:m pr:n', suspect suspect up",
    // whose models are not known can be replaced by any of its role
    "fr pr:m, down up",
    // adapters are not models here
    "'fr:m,+lora pr:m', down up",
    // a draining worker that fails is judged like any other
    "fR pr, down up",
  })
  void theTable(String fleet, String expected) {
    assertThat(judge(fleet)).isEqualTo(expected);
  }

  @Test
  void nobodyIsJudgedWhereNobodyIs() {
    assertThat(FleetJudge.judge(List.of())).isEmpty();
  }
}
