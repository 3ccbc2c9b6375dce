package dev.warmpath.fake.internal.surface;

import dev.warmpath.fake.fault.Fault;
import dev.warmpath.fake.fault.Faults;
import dev.warmpath.fake.fault.Scope;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Lets the armed faults at every request before it is looked at, whichever protocol it came by, and
 * counts those for inference. Thread-safe and non-blocking.
 */
public final class FaultGate {
  /** What can happen to whoever sent a request, in the terms of its protocol. */
  public interface Victim {
    /**
     * Answers with an error.
     *
     * @param status an HTTP status, 400 to 599
     * @param retryAfter when to come back, or null
     */
    void refuse(int status, @Nullable Duration retryAfter);

    /** Closes the connection with a TCP reset. */
    void reset();

    /** Closes the connection without an answer. */
    void cut();

    /** Sends bytes that nobody understands and closes the connection. */
    void garbage();

    /** Tells the client to open another connection for what comes next, where there is a way to. */
    void goAway();
  }

  private final Life life;
  private final Faults faults;
  private final EngineControl control;

  FaultGate(Life life, Faults faults, EngineControl control) {
    this.life = life;
    this.faults = faults;
    this.control = control;
  }

  /**
   * Decides what becomes of a request.
   *
   * @param scope the kind of endpoint it came to
   * @param inference whether it counts as an inference request
   * @param victim suffers faults that leave nothing of the request
   * @param proceed goes on with the request, now or later, with the fault that its answer is to
   *     suffer, or null
   */
  public void enter(
      Scope scope, boolean inference, Victim victim, Consumer<@Nullable Fault> proceed) {
    Fault fault = faults.decide(scope);
    if (inference) {
      life.received.increment();
    }
    if (fault == null) {
      proceed.accept(null);
      return;
    }
    switch (fault.kind()) {
      case SLOW -> control.schedule(fault.delay(), () -> proceed.accept(null));
      case GOAWAY -> {
        victim.goAway();
        proceed.accept(null);
      }
      default -> {
        if (inference) {
          life.failed.increment();
        }
        suffer(fault, inference, victim, proceed);
      }
    }
  }

  private void suffer(
      Fault fault, boolean inference, Victim victim, Consumer<@Nullable Fault> proceed) {
    switch (fault.kind()) {
      case STATUS -> victim.refuse(fault.status(), fault.retryAfter());
      case RESTART -> control.restart();
      case REFUSE -> control.refuse();
      default -> {
        if (inference && (fault.chunks() > 0 || fault.kind() == Fault.Kind.ERROR)) {
          proceed.accept(fault);
          return;
        }
        switch (fault.kind()) {
          case RESET -> victim.reset();
          case GARBAGE -> victim.garbage();
          case CUT, TRUNCATE -> victim.cut();
          case ERROR -> victim.refuse(fault.status(), null);
          default -> {
            // HANG: the client waits
          }
        }
      }
    }
  }
}
