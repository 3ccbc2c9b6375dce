package dev.warmpath.fake.internal;

/** Waiting for threads to end. */
public final class Threads {
  private Threads() {}

  /**
   * Waits until a thread has ended, whatever interrupts come; returns at once on that thread
   * itself.
   *
   * @param thread the thread
   */
  public static void join(Thread thread) {
    if (Thread.currentThread() == thread) {
      return;
    }
    boolean interrupted = false;
    while (true) {
      try {
        thread.join();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
