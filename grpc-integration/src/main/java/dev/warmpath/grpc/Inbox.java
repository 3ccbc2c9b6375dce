package dev.warmpath.grpc;

import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Takes in what a call hears on the transport's thread and gives it to one thread that waits. Holds
 * no more messages than were asked for.
 */
final class Inbox<R> extends ClientCall.Listener<R> {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Deque<R> messages = new ArrayDeque<>();
  private boolean connected;
  private @Nullable Status status;
  private Metadata trailers = new Metadata();

  /** The call has a connection. */
  void connected() {
    tell(() -> connected = true);
  }

  @Override
  public void onHeaders(Metadata headers) {
    connected();
  }

  @Override
  public void onMessage(R message) {
    tell(() -> messages.addLast(message));
  }

  @Override
  public void onClose(Status closed, Metadata metadata) {
    tell(
        () -> {
          status = closed;
          trailers = metadata;
        });
  }

  private void tell(Runnable change) {
    lock.lock();
    try {
      change.run();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** What there is to see. */
  enum News {
    CONNECTED,
    MESSAGE,
    CLOSED,
    NOTHING
  }

  /**
   * Waits for a message or the end, or, if it is {@code connecting}, for the connection.
   *
   * @param atMost the longest wait, in nanoseconds
   * @return {@code NOTHING} when that has passed
   */
  News await(boolean connecting, long atMost) throws InterruptedException {
    long left = atMost;
    lock.lockInterruptibly();
    try {
      while (true) {
        if (!messages.isEmpty()) {
          return News.MESSAGE;
        }
        if (status != null) {
          return News.CLOSED;
        }
        if (connecting && connected) {
          return News.CONNECTED;
        }
        if (left <= 0) {
          return News.NOTHING;
        }
        left = changed.awaitNanos(left);
      }
    } finally {
      lock.unlock();
    }
  }

  /** The next message, after {@link #await} has seen one. */
  R take() {
    lock.lock();
    try {
      return messages.removeFirst();
    } finally {
      lock.unlock();
    }
  }

  /** How the call was closed, after {@link #await} has seen it. */
  Status status() {
    lock.lock();
    try {
      Status closed = status;
      return closed == null ? Status.UNKNOWN : closed;
    } finally {
      lock.unlock();
    }
  }

  /** What came with the close. */
  Metadata trailers() {
    lock.lock();
    try {
      return trailers;
    } finally {
      lock.unlock();
    }
  }
}
