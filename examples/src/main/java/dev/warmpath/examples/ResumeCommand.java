package dev.warmpath.examples;

import dev.warmpath.Admin;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Resumes engines. */
@Command(name = "resume", description = "Resumes engines that were paused.")
final class ResumeCommand extends AdminCommand {
  @Option(names = "--all", description = "every worker of the configuration")
  private boolean all;

  @Override
  boolean all() {
    return all;
  }

  @Override
  List<Admin.Result> run(Admin admin) {
    return admin.resume();
  }
}
