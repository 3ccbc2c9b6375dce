package dev.warmpath.examples;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.fake.lab.FleetRun;
import dev.warmpath.fake.lab.LabIncident;
import dev.warmpath.fake.lab.LabRecovery;
import dev.warmpath.fake.study.StudyResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FleetTablesTest {
  private static FleetTables tables(double seconds) {
    StudyResult result =
        new StudyResult(
            "warmpath:homing",
            900,
            3,
            0.9,
            50,
            40,
            200,
            0.02,
            0.07,
            0.1,
            30,
            List.of(
                new StudyResult.Slice(100, 50, 0.8),
                new StudyResult.Slice(0, 0, 0),
                new StudyResult.Slice(0, 0, 0)));
    LabRecovery recovery =
        new LabRecovery(
            List.of(LabIncident.restart(10_000, 2, 10_000), LabIncident.restart(20_000, 3, 10_000)),
            new LabRecovery.State(0.92, 1.25, 1),
            new LabRecovery.State(0.8, 1.5, 4),
            seconds);
    return new FleetTables(
        List.of(
            new FleetCell(
                "sess(14)",
                "warmpath:homing",
                8,
                List.of(new FleetRun(result, List.of(recovery))))));
  }

  @Test
  void whatHappenedToWorkersHasATableOfItsOwn(@TempDir Path folder) throws IOException {
    String text = tables(17).text();
    assertThat(text)
        .contains("0.900 / 50 / 200 (3 failed)")
        .contains("2 × restart from 10 to 20 s")
        .contains("0.920", "0.800", "17 s", "1.25, 1.50", "1, 4");
    Path page = folder.resolve("page.html");
    tables(17).write(page, "one run");
    assertThat(Files.readString(page))
        .contains("What happened to workers", "<td>17 s</td>")
        .contains("class=\"mark\"")
        .containsOnlyOnce("<polyline");
    // The slice in which nobody asked for anything is no fall to zero: the line is its one point.
    assertThat(Files.readString(page)).containsPattern("points=\"[0-9.]+,[0-9.]+\"");
  }

  @Test
  void whatIsNotBackIsSaidToBeSo() {
    FleetTables tables = tables(Double.NaN);
    assertThat(tables.text()).contains("not in 60 s");
    JsonNode incident = tables.document().at("/policies/0/incidents/0");
    assertThat(incident.at("/recovery_s").isNull()).isTrue();
    assertThat(incident.at("/before/hit_rate").asDouble()).isEqualTo(0.92);
    assertThat(incident.at("/after/longest_queue").asInt()).isEqualTo(4);
  }

  @Test
  void incidentsThatCannotBeAreRefusedBeforeAnythingRuns(@TempDir Path folder) {
    String page = folder.resolve("page.html").toString();
    for (String wrong : List.of("flush:3", "melt:3@10", "flush:16@10")) {
      Run run = Run.of("lab", "--suite", "fleet", "--incident", wrong, "--report", page);
      assertThat(run.exitCode()).as(wrong).isEqualTo(2);
      assertThat(run.err()).contains("flush:3@150");
    }
  }
}
