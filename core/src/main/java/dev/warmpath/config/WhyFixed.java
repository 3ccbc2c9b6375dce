package dev.warmpath.config;

import java.util.Locale;

/** Why a running client can't be given another value of a key. */
enum WhyFixed {
  BUDGETS("memory is laid out when the client starts, and what it holds would be lost"),
  PROMPTS("prompts that were read, hashed and indexed under the old value would match no new one"),
  FILES("it is read when the client starts and written when it closes"),
  THREADS("its thread is started with the client, and goes by what it was started with"),
  CONNECTIONS("connections are made once, and requests run on them"),
  LISTENING("who is asked and listened to, and how, is settled when the client starts"),
  COUNTS("what came before could not be told from what comes after"),
  KNOWLEDGE("a KnowledgeRouting is made once, with what it remembers of nodes and answers");

  private final String text;

  WhyFixed(String text) {
    this.text = text;
  }

  /** Its short name in the reference. */
  String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The reason, as the end of a sentence. */
  String text() {
    return text;
  }
}
