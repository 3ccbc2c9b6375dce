package dev.warmpath.health;

import dev.warmpath.health.ProbeRecord.Verdict;
import dev.warmpath.worker.ServedModel;
import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerRole;
import dev.warmpath.worker.WorkerState;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The one place where it is decided what availability each worker's ranks show, given what is held
 * of all workers.
 *
 * <p>A worker that fails its probes is down, unless nobody else can do its work: while no other
 * active worker of its role that is not failing serves one of its models, it is suspect. So the
 * last one is never ejected; and when a whole group fails together, all its members are suspect
 * alike, since then the probes or the network between are as likely to be at fault as all the
 * engines, and one survivor by chance must not get everybody's requests. LoRA adapters don't count
 * as models here.
 */
final class FleetJudge {
  private FleetJudge() {}

  /** A worker and what its probes say of it. */
  record Subject(Worker worker, Verdict verdict) {}

  private record Duty(WorkerRole role, String model) {}

  /** The availability of each subject, in order. */
  static List<Availability> judge(List<Subject> subjects) {
    Set<Duty> covered = new HashSet<>();
    EnumSet<WorkerRole> coveredRoles = EnumSet.noneOf(WorkerRole.class);
    for (Subject subject : subjects) {
      Worker worker = subject.worker();
      if (subject.verdict() != Verdict.FAILING && worker.state() == WorkerState.ACTIVE) {
        coveredRoles.add(worker.role());
        for (ServedModel model : worker.models()) {
          covered.add(new Duty(worker.role(), model.id()));
        }
      }
    }
    List<Availability> judged = new ArrayList<>(subjects.size());
    for (Subject subject : subjects) {
      judged.add(
          switch (subject.verdict()) {
            case UNTRIED -> Availability.UNKNOWN;
            case PASSING -> Availability.UP;
            case FAILING ->
                replaceable(subject.worker(), covered, coveredRoles)
                    ? Availability.DOWN
                    : Availability.SUSPECT;
          });
    }
    return judged;
  }

  private static boolean replaceable(
      Worker worker, Set<Duty> covered, EnumSet<WorkerRole> coveredRoles) {
    if (!coveredRoles.contains(worker.role())) {
      return false;
    }
    for (ServedModel model : worker.models()) {
      if (!model.adapter() && !covered.contains(new Duty(worker.role(), model.id()))) {
        return false;
      }
    }
    return true;
  }
}
