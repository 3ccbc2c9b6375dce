package dev.warmpath;

import dev.warmpath.transport.AdminCommand;
import dev.warmpath.transport.AdminReply;
import dev.warmpath.transport.AdminReply.Outcome;
import dev.warmpath.transport.CacheLevel;
import dev.warmpath.transport.PauseMode;
import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerId;
import dev.warmpath.worker.WorkerState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * What an operator wants of engines, at one worker or at all of them. Each engine's truth is told:
 * busy, no such call, only in development mode, the admin key is wanted. The client follows what
 * engines do: what it knew of a cache that was emptied is forgotten, and it stops routing to a
 * worker before that is paused and takes up again after it resumed.
 *
 * <p>Thread safe. Calls block for as long as workers take, up to {@link #timeout}; those to several
 * workers run at the same time. Nothing is thrown for what a worker does.
 */
public final class Admin {
  /** What a call may take: emptying a large cache takes engines a while. */
  private static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(30);

  private final AdminPort port;
  private final Supplier<List<Worker>> targets;
  private final Duration timeout;

  private Admin(AdminPort port, Supplier<List<Worker>> targets, Duration timeout) {
    this.port = port;
    this.targets = targets;
    this.timeout = timeout;
  }

  static Admin of(AdminPort port) {
    return new Admin(port, List::of, DEFAULT_TIMEOUT);
  }

  /** What the calls need of the client. */
  interface AdminPort {
    /** The workers as they are now. */
    List<Worker> workers();

    /** Sends one command over the worker's transport. */
    AdminReply send(Worker worker, AdminCommand command, Duration timeout);

    /** A worker's tiers were emptied. */
    void emptied(Worker worker, Collection<CacheLevel> levels);

    /** Routes to a worker, or no longer. */
    void routing(Worker worker, boolean on);

    /** Where calls to several workers run. */
    Executor executor();
  }

  /**
   * What a command came to at one worker.
   *
   * @param worker its address
   * @param command the command in a word or two
   * @param outcome what it came to
   * @param detail the engine's word for it, or what to do about it
   */
  public record Result(String worker, String command, Outcome outcome, String detail) {}

  /**
   * Speaks to one worker.
   *
   * @param address as the registry knows it
   * @throws IllegalArgumentException when there is no such worker: an address that is not in the
   *     registry is never called
   */
  public Admin worker(String address) {
    WorkerId id = WorkerId.parse(address);
    Worker known =
        port.workers().stream()
            .filter(worker -> worker.id().equals(id))
            .findFirst()
            .orElseThrow(
                () ->
                    new IllegalArgumentException(
                        address
                            + " is not a worker of this client: use one of "
                            + port.workers().stream().map(Worker::id).toList()));
    return new Admin(port, () -> List.of(known), timeout);
  }

  /** Speaks to every worker that the registry holds at the time of each call. */
  public Admin everyWorker() {
    return new Admin(port, port::workers, timeout);
  }

  /** Sets what each call may take; 30 s by default. */
  public Admin timeout(Duration each) {
    return new Admin(port, targets, each);
  }

  /** Empties a tier of the KV cache. */
  public List<Result> flush(CacheLevel level) {
    AdminCommand command = new AdminCommand.Flush(level);
    return each(
        worker -> {
          AdminReply reply = port.send(worker, command, timeout);
          if (reply.outcome().success()) {
            port.emptied(worker, reply.emptied());
          }
          return result(worker, command, reply);
        });
  }

  /**
   * Ends requests by the ids that engines know them by. Blank ones are left out, and when none is
   * left nothing is sent: engines take an empty list for all.
   */
  public List<Result> abort(Collection<String> ids) {
    AdminCommand.Abort command = new AdminCommand.Abort(List.copyOf(ids));
    return each(
        worker ->
            result(
                worker,
                command,
                command.ids().isEmpty()
                    ? AdminReply.of(Outcome.NOTHING, "no id was given, so nothing was sent")
                    : port.send(worker, command, timeout)));
  }

  /** Ends every request, whoever sent it. */
  public List<Result> abortAll() {
    AdminCommand command = new AdminCommand.AbortAll();
    return each(worker -> result(worker, command, port.send(worker, command, timeout)));
  }

  /**
   * Stops routing to the worker, then pauses it: engines hold what arrives while they are paused.
   * Where it could not be paused it is routed to again, unless nobody knows.
   */
  public List<Result> pause(PauseMode mode) {
    AdminCommand command = new AdminCommand.Pause(mode);
    return each(
        worker -> {
          boolean routed = worker.state() == WorkerState.ACTIVE;
          port.routing(worker, false);
          AdminReply reply = port.send(worker, command, timeout);
          boolean unknown = reply.outcome() == Outcome.UNKNOWN;
          if (routed && !reply.outcome().success() && !unknown) {
            port.routing(worker, true);
          }
          return result(
              worker,
              command,
              unknown
                  ? AdminReply.of(
                      Outcome.UNKNOWN, reply.detail() + "; not routed to until it is resumed")
                  : reply);
        });
  }

  /** Resumes the worker, then routes to it again; where it did not resume it stays out. */
  public List<Result> resume() {
    AdminCommand command = new AdminCommand.Resume();
    return each(
        worker -> {
          AdminReply reply = port.send(worker, command, timeout);
          if (reply.outcome().success()) {
            port.routing(worker, true);
          }
          return result(worker, command, reply);
        });
  }

  /** Begins to profile. */
  public List<Result> startProfile() {
    AdminCommand command = new AdminCommand.StartProfile();
    return each(worker -> result(worker, command, port.send(worker, command, timeout)));
  }

  /** Ends profiling. */
  public List<Result> stopProfile() {
    AdminCommand command = new AdminCommand.StopProfile();
    return each(worker -> result(worker, command, port.send(worker, command, timeout)));
  }

  private static Result result(Worker worker, AdminCommand command, AdminReply reply) {
    return new Result(worker.id().value(), command.name(), reply.outcome(), reply.detail());
  }

  private List<Result> each(Function<Worker, Result> call) {
    List<Worker> workers = targets.get();
    if (workers.size() == 1) {
      return List.of(call.apply(workers.get(0)));
    }
    List<CompletableFuture<Result>> calls = new ArrayList<>();
    for (Worker worker : workers) {
      calls.add(CompletableFuture.supplyAsync(() -> call.apply(worker), port.executor()));
    }
    return calls.stream().map(CompletableFuture::join).toList();
  }
}
