package dev.warmpath.knowledge;

import java.util.Locale;

/** Where knowledge is put into a prompt. What stands before it can be shared by prompts. */
public enum InjectionPosition {
  /**
   * At the very front, bare and in front of what the caller's system message says: the place where
   * KV that was made of the text alone is found again, and where prompts with the same knowledge
   * share it whatever their system messages.
   */
  BEFORE_SYSTEM,

  /**
   * Behind what the caller's system message says: prompts share the system message whatever their
   * knowledge, and the knowledge as well where it is the same.
   */
  AFTER_SYSTEM,

  /**
   * In front of the last user message: for conversations whose knowledge changes from turn to turn,
   * whose history stays shared.
   */
  BEFORE_QUESTION;

  String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
