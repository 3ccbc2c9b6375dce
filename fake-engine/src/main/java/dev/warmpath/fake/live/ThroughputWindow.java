package dev.warmpath.fake.live;

/**
 * Counts generated tokens over windows of half a second. Not thread-safe.
 *
 * <p>The rate is that of the last window that was closed, so it lags by up to one window; a rank
 * that has been silent for two is read as idle.
 */
public final class ThroughputWindow {
  /** Length of a window in milliseconds. */
  public static final double WINDOW_MS = 500;

  private double startMs;
  private long tokens;
  private double tokensPerSecond;

  /**
   * Starts a window.
   *
   * @param nowMs the present time in milliseconds
   */
  public ThroughputWindow(double nowMs) {
    this.startMs = nowMs;
  }

  /**
   * Counts tokens.
   *
   * @param generated how many
   */
  public void add(int generated) {
    tokens += generated;
  }

  /**
   * Closes the window if it is full.
   *
   * @param nowMs the present time in milliseconds
   * @return tokens per second in the last closed window
   */
  public double roll(double nowMs) {
    double elapsed = nowMs - startMs;
    if (elapsed >= WINDOW_MS) {
      tokensPerSecond = tokens * 1e3 / elapsed;
      tokens = 0;
      startMs = nowMs;
    }
    return tokensPerSecond;
  }
}
