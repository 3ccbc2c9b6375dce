package dev.warmpath.fake.fault;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The switchboard of one fake engine's faults; all methods may be called from any thread while the
 * engine runs.
 */
public final class Faults {
  private static final class Armed {
    private final Fault fault;
    private int seen;
    private int fired;

    Armed(Fault fault) {
      this.fault = fault;
    }
  }

  private final ReentrantLock lock = new ReentrantLock();
  private final List<Armed> armed = new ArrayList<>();
  private final Map<Fault.Kind, Long> fired = new EnumMap<>(Fault.Kind.class);
  private final SplittableRandom random;
  private boolean refusing;
  private final Runnable onChange;

  /**
   * Creates a switchboard without faults.
   *
   * @param seed decides what {@link Fault#rate} picks
   * @param onChange called after every change of a condition of the engine, on the thread that made
   *     it; faults that happen to single requests may be armed without
   */
  public Faults(long seed, Runnable onChange) {
    this.random = new SplittableRandom(seed);
    this.onChange = Objects.requireNonNull(onChange, "onChange");
  }

  /**
   * Arms a fault in addition to others; a request suffers the first one that fires.
   *
   * @param fault what and when
   */
  public void add(Fault fault) {
    Objects.requireNonNull(fault, "fault");
    locked(() -> armed.add(new Armed(fault)));
    if (fault.isState()) {
      onChange.run();
    }
  }

  /**
   * Arms the faults of a text, see {@link Fault#parse}.
   *
   * @param spec the text
   */
  public void add(String spec) {
    List<Fault> faults = Fault.parse(spec);
    locked(() -> faults.forEach(fault -> armed.add(new Armed(fault))));
    onChange.run();
  }

  /**
   * Arms faults in place of all others, at once.
   *
   * @param faults what is to be armed, maybe nothing
   */
  public void set(List<Fault> faults) {
    List<Fault> wanted = List.copyOf(faults);
    locked(
        () -> {
          armed.clear();
          refusing = false;
          wanted.forEach(fault -> armed.add(new Armed(fault)));
        });
    onChange.run();
  }

  /**
   * Returns what is armed.
   *
   * @return the faults, in the order they were armed
   */
  public List<Fault> armed() {
    lock.lock();
    try {
      return armed.stream().map(each -> each.fault).toList();
    } finally {
      lock.unlock();
    }
  }

  /** Disarms everything. Requests that a fault already hit stay as they are. */
  public void clear() {
    locked(
        () -> {
          armed.clear();
          refusing = false;
        });
    onChange.run();
  }

  /**
   * Counts how often a kind of fault has hit a request.
   *
   * @param kind the kind
   * @return times since the engine was created
   */
  public long fired(Fault.Kind kind) {
    lock.lock();
    try {
      return fired.getOrDefault(kind, 0L);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Decides what happens to a request. Every matching fault counts it, the first that fires is it.
   *
   * @param scope the kind of endpoint it came to
   * @return the fault to suffer, or null
   */
  public @Nullable Fault decide(Scope scope) {
    lock.lock();
    try {
      Fault chosen = null;
      for (Armed each : armed) {
        if (each.fault.isState() || !each.fault.covers(scope)) {
          continue;
        }
        boolean due = each.seen++ >= each.fault.after() && each.fired < each.fault.count();
        if (chosen == null
            && due
            && (each.fault.rate() >= 1 || random.nextDouble() < each.fault.rate())) {
          each.fired++;
          chosen = each.fault;
          fired.merge(chosen.kind(), 1L, Long::sum);
          refusing |= chosen.kind() == Fault.Kind.REFUSE;
        }
      }
      return chosen;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Tells whether a condition of the engine is switched on.
   *
   * @param kind {@link Fault.Kind#REFUSE}, {@link Fault.Kind#FREEZE} or {@link Fault.Kind#ZOMBIE}
   * @return whether such a fault is armed, or for {@link Fault.Kind#REFUSE} has fired
   */
  public boolean isOn(Fault.Kind kind) {
    lock.lock();
    try {
      if (kind == Fault.Kind.REFUSE && refusing) {
        return true;
      }
      return armed.stream().anyMatch(each -> each.fault.isState() && each.fault.kind() == kind);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns how much longer passes take at present.
   *
   * @return the product of the armed factors
   */
  public double slowdown() {
    lock.lock();
    try {
      double factor = 1;
      for (Armed each : armed) {
        factor *= each.fault.factor();
      }
      return factor;
    } finally {
      lock.unlock();
    }
  }

  private void locked(Runnable change) {
    lock.lock();
    try {
      change.run();
    } finally {
      lock.unlock();
    }
  }
}
