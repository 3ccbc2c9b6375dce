package dev.warmpath.fake.kdn;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What is wrong with a fake node. Thread safe; a change concerns the requests and heartbeats that
 * come after it.
 */
public final class KdnFaults {
  private final Runnable vanish;
  private final AtomicLong flaps = new AtomicLong();
  private final AtomicLong vanishIn = new AtomicLong(-1);
  private final List<Runnable> held = new ArrayList<>(); // also the lock of hanging
  private boolean hanging;
  private volatile boolean lying;
  private volatile boolean flapping;

  KdnFaults(Runnable vanish) {
    this.vanish = vanish;
  }

  /**
   * Stops or goes on answering and reporting; what was asked meanwhile is then answered, as by a
   * process that was stopped.
   *
   * @param on whether it hangs
   */
  public void hang(boolean on) {
    List<Runnable> free = List.of();
    synchronized (held) {
      hanging = on;
      if (!on) {
        free = List.copyOf(held);
        held.clear();
      }
    }
    free.forEach(Runnable::run);
  }

  /**
   * Says what isn't so, or tells the truth again: KV is ready that doesn't exist, KV was injected
   * that was not sent, texts that belong to other ids, load that can't be.
   *
   * @param on whether it lies
   */
  public void lie(boolean on) {
    lying = on;
  }

  /**
   * Comes and goes, or stays: every second request is reset instead of answered, and every second
   * heartbeat takes its registration back, which the one after it renews.
   *
   * @param on whether it flaps
   */
  public void flap(boolean on) {
    flapping = on;
  }

  /**
   * Goes away for good at a coming request, without unregistering.
   *
   * @param requests how many it answers before that, 0 or more
   */
  public void vanishAfter(long requests) {
    vanishIn.set(requests);
  }

  /**
   * Switches faults on by name.
   *
   * @param names comma-separated: {@code hang}, {@code lie}, {@code flap}, {@code vanish=REQUESTS}
   * @throws IllegalArgumentException if there is no such fault
   */
  public void add(String names) {
    for (String name : names.split(",", -1)) {
      switch (name) {
        case "hang" -> hang(true);
        case "lie" -> lie(true);
        case "flap" -> flap(true);
        default -> {
          if (!name.matches("vanish=\\d{1,9}")) {
            throw new IllegalArgumentException(
                "no fault '" + name + "' of a KDN: use hang, lie, flap or vanish=REQUESTS");
          }
          vanishAfter(Long.parseLong(name.substring("vanish=".length())));
        }
      }
    }
  }

  boolean lying() {
    return lying;
  }

  boolean hanging() {
    synchronized (held) {
      return hanging;
    }
  }

  /** Whether this request or heartbeat is one that a flapping node doesn't survive. */
  boolean flapsNow() {
    return flapping && flaps.getAndIncrement() % 2 == 0;
  }

  /** Answers at once, when a hang ends, or never. */
  void enter(Runnable answer, Runnable reset) {
    if (vanishIn.getAndUpdate(left -> left < 0 ? left : left - 1) == 0) {
      vanish.run();
      return;
    }
    synchronized (held) {
      if (hanging) {
        held.add(answer);
        return;
      }
    }
    (flapsNow() ? reset : answer).run();
  }

  void forgetHeld() {
    synchronized (held) {
      held.clear();
    }
  }
}
