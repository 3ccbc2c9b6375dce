package dev.warmpath.prompt.template.internal.python;

import java.time.Clock;
import java.util.SplittableRandom;

/**
 * The state of one rendering: its output, its clock and what it may still spend. Used by one
 * thread.
 *
 * <p>Work is counted in units of about one loop iteration, one call, one list element or {@value
 * #CHARS_PER_UNIT} characters produced; whatever a template can repeat or blow up is charged, so
 * that a hostile one ends with an error after bounded time and memory.
 */
public final class Rendering {
  private static final int CHARS_PER_UNIT = 4;

  private final TextOut out = new TextOut();
  private final Clock clock;
  private final long maxWork;
  private final int maxOutput;
  private final int maxDepth;
  private final SplittableRandom random = new SplittableRandom(0);
  private long work;
  private int depth;
  private boolean autoescape;

  /**
   * Starts a rendering.
   *
   * @param clock what {@code strftime_now} reads
   * @param maxWork units of work
   * @param maxOutput longest output, and longest single string, in UTF-16 units
   * @param maxDepth deepest nesting of macro calls and recursive loops
   */
  public Rendering(Clock clock, long maxWork, int maxOutput, int maxDepth) {
    this.clock = clock;
    this.maxWork = maxWork;
    this.maxOutput = maxOutput;
    this.maxDepth = maxDepth;
  }

  /** The text so far; what a macro or a block captures is cut off its end again. */
  public TextOut out() {
    return out;
  }

  /** The clock of {@code strftime_now}. */
  public Clock clock() {
    return clock;
  }

  /** Chance for the filters that want some; the same in every rendering. */
  public SplittableRandom random() {
    return random;
  }

  /** Whether output is being escaped. */
  public boolean autoescape() {
    return autoescape;
  }

  /** Turns escaping on or off. */
  public void autoescape(boolean on) {
    autoescape = on;
  }

  /** Spends one unit. */
  public void charge() {
    if (++work > maxWork) {
      throw workExceeded();
    }
  }

  /** Spends units. */
  public void charge(long units) {
    if (units < 0 || units > maxWork - work) {
      throw workExceeded();
    }
    work += units;
  }

  /** Spends what a string of that length costs, and refuses one that is too long. */
  public void chargeChars(long length) {
    if (length > maxOutput) {
      throw PyError.limit("a string would grow beyond " + maxOutput + " characters");
    }
    charge(length / CHARS_PER_UNIT);
  }

  /** Refuses an output that has become too long. */
  public void checkOutput() {
    if (out.length() > maxOutput) {
      throw PyError.limit("the output is longer than " + maxOutput + " characters");
    }
  }

  /** Longest string. */
  public int maxLength() {
    return maxOutput;
  }

  /** Goes one call deeper; to be paired with {@link #leave()}. */
  public void enter() {
    charge();
    if (++depth > maxDepth) {
      throw PyError.recursion();
    }
  }

  /** Comes back from a call. */
  public void leave() {
    depth--;
  }

  private PyError workExceeded() {
    return PyError.limit("the template does more than " + maxWork + " units of work");
  }
}
