package dev.warmpath;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Holds all modules together to the rules that core keeps by itself. */
@Tag("long")
class ModulesArchitectureTest {
  private static final ArchitectureRules RULES = new ArchitectureRules("dev.warmpath", List.of());

  private final JavaClasses modules =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .withImportOption(ModulesArchitectureTest::isOurs)
          .importPackages("dev.warmpath");

  @Test
  void allModulesAreSeen() {
    assertThat(modules.containPackage("dev.warmpath.worker")).isTrue();
    assertThat(modules.containPackage("dev.warmpath.examples")).isTrue();
  }

  @Test
  void internalsStayInTheirModules() {
    RULES.internalStaysAtHome().check(modules);
  }

  @Test
  void packagesAreNullMarked() {
    RULES.packagesAreNullMarked().check(modules);
  }

  /** Neither generated from wire schemas nor the jar that brings the rules. */
  private static boolean isOurs(Location location) {
    return !location.contains("/proto/target/")
        && !location.contains("/warmpath-proto")
        && !location.contains("-tests.jar");
  }
}
