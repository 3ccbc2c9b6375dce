package dev.warmpath.fake.virtual;

/** An event that has been scheduled. Used on the thread that runs its {@link VirtualTime}. */
public interface VirtualTimer {

  /**
   * Prevents the event.
   *
   * @return whether it was still to come
   */
  boolean cancel();

  /**
   * Tells when it happens or was to happen.
   *
   * @return milliseconds of its {@link VirtualTime}
   */
  double atMs();
}
