package dev.warmpath.knowledge;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** The last decisions. Thread safe; holds a lock for as long as it takes to add one. */
final class DecisionJournal {
  private final int room;
  private final ReentrantLock lock = new ReentrantLock();
  private final Deque<KnowledgeTrace> traces = new ArrayDeque<>(); // under lock

  DecisionJournal(int room) {
    this.room = room;
  }

  void add(KnowledgeTrace trace) {
    if (room == 0) {
      return;
    }
    lock.lock();
    try {
      if (traces.size() == room) {
        traces.removeFirst();
      }
      traces.addLast(trace);
    } finally {
      lock.unlock();
    }
  }

  /** The newest one, or null where there is none. */
  @Nullable KnowledgeTrace last() {
    lock.lock();
    try {
      return traces.peekLast();
    } finally {
      lock.unlock();
    }
  }

  /** All of them, newest first. */
  List<KnowledgeTrace> newestFirst() {
    lock.lock();
    try {
      List<KnowledgeTrace> copy = new ArrayList<>(traces);
      Collections.reverse(copy);
      return copy;
    } finally {
      lock.unlock();
    }
  }
}
