package dev.warmpath.examples;

import dev.warmpath.Admin;
import java.util.List;
import picocli.CommandLine.Command;

/** Resumes engines. */
@Command(name = "resume", description = "Resumes engines that were paused.")
final class ResumeCommand extends FleetCommand {
  @Override
  List<Admin.Result> run(Admin admin) {
    return admin.resume();
  }
}
