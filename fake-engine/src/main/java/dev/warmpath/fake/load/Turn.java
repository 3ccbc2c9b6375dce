package dev.warmpath.fake.load;

/**
 * One request of a session.
 *
 * @param message the user's message, which follows everything said before
 * @param outputTokens the answer's length
 * @param delayMillis time from the previous turn's end, or 0 for the first
 */
public record Turn(String message, int outputTokens, double delayMillis) {
  /** Sizes only. */
  @Override
  public String toString() {
    return "Turn[" + message.length() + " chars, " + outputTokens + " tokens]";
  }
}
