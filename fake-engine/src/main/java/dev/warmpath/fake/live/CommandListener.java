package dev.warmpath.fake.live;

import dev.warmpath.fake.scheduler.CommandResult;

/** Hears the answer to one command, exactly once, on the thread that runs the rank. */
@FunctionalInterface
public interface CommandListener {

  /**
   * The command was carried out. Cache changes that it caused between two passes have been
   * published by now.
   *
   * @param result the answer and everything that happened
   */
  void answered(CommandResult result);

  /**
   * The command can't be carried out and has changed nothing. The default throws the reason, on the
   * thread that runs the rank.
   *
   * @param reason what is wrong with it
   */
  default void refused(IllegalArgumentException reason) {
    throw reason;
  }

  /** The rank closed before it took the command. The default does nothing. */
  default void abandoned() {}
}
