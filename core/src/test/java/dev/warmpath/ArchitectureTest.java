package dev.warmpath;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import java.util.List;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Holds core to its floors: what may use what, and what an application gets to see. */
@Tag("long")
class ArchitectureTest {

  /** The packages of core, ground floor first; the facade {@code dev.warmpath} stands on top. */
  private static final List<String> FLOORS =
      List.of(
          "worker",
          "api",
          "transport",
          "health",
          "hash",
          "prompt",
          "index",
          "policy",
          "knowledge",
          "dispatch",
          "observe",
          "pd",
          "config");

  private static List<ArchRule> rules(String base, List<String> floors) {
    ArchitectureRules rules = new ArchitectureRules(base, floors);
    return List.of(
        rules.floorsLookDown(),
        rules.internalStaysAtHome(),
        rules.nobodyUses("okhttp3", "io.grpc", "io.netty", "java.net.http"),
        rules.publicApiHides("com.fasterxml.jackson", "okhttp3", "io.grpc"),
        rules.packagesAreNullMarked());
  }

  @TestFactory
  List<DynamicTest> core() {
    JavaClasses core =
        new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages("dev.warmpath");
    return rules("dev.warmpath", FLOORS).stream()
        .map(rule -> DynamicTest.dynamicTest(rule.getDescription(), () -> rule.check(core)))
        .toList();
  }

  /** Each rule finds what was planted for it in {@code archfixture}, and nothing beside it. */
  @Nested
  class Fixture {
    private final JavaClasses planted = new ClassFileImporter().importPackages("archfixture");
    private final ArchitectureRules rules =
        new ArchitectureRules("archfixture", List.of("ground", "first"));

    @Test
    void lookingUpAndStandingNowhereAreFound() {
      assertThat(violations(rules.floorsLookDown()))
          .hasSize(2)
          .anyMatch(found -> found.contains("ground.LooksUp") && found.contains("first.Tidy"))
          .anyMatch(found -> found.contains("nowhere.Homeless"));
    }

    @Test
    void foreignInternalsAreFound() {
      assertThat(violations(rules.internalStaysAtHome()))
          .isNotEmpty()
          .allMatch(found -> found.contains("first.ReachesIn"))
          .allMatch(found -> found.contains("ground.internal.Hidden"));
    }

    @Test
    void bannedPackagesAreFound() {
      assertThat(violations(rules.nobodyUses("com.fasterxml.jackson")))
          .isNotEmpty()
          .allMatch(found -> found.contains("ground.Leaks"));
    }

    @Test
    void leaksThroughThePublicApiAreFound() {
      assertThat(violations(rules.publicApiHides("com.fasterxml.jackson")))
          .hasSize(3)
          .allMatch(found -> found.contains("ground.Leaks"))
          .anyMatch(found -> found.contains("byReturn"))
          .anyMatch(found -> found.contains("byTypeArgument"))
          .anyMatch(found -> found.contains("Nested.byParameter"));
    }

    @Test
    void unmarkedPackagesAreFound() {
      assertThat(violations(rules.packagesAreNullMarked()))
          .hasSize(1)
          .allMatch(found -> found.contains("nowhere.Homeless"));
    }

    private List<String> violations(ArchRule rule) {
      return rule.evaluate(planted).getFailureReport().getDetails();
    }
  }
}
