package dev.warmpath.examples;

import dev.warmpath.Admin;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Profiles engines. */
@Command(name = "profile", description = "Starts or stops the profiler of engines.")
final class ProfileCommand extends FleetCommand {
  @Parameters(paramLabel = "start|stop", description = "what to do")
  private String what = "";

  @Override
  void check() {
    if (!List.of("start", "stop").contains(what.toLowerCase(Locale.ROOT))) {
      throw CommandFailure.usage("profile takes start or stop");
    }
  }

  @Override
  List<Admin.Result> run(Admin admin) {
    return what.equalsIgnoreCase("start") ? admin.startProfile() : admin.stopProfile();
  }
}
