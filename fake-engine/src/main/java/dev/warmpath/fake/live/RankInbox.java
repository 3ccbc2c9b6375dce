package dev.warmpath.fake.live;

import dev.warmpath.fake.scheduler.EngineCommand;
import dev.warmpath.fake.scheduler.FinishReason;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * Where a rank finds what others want of it: an unbounded lane of requests and engine commands, and
 * a bounded lane of commands about handoffs. Any thread may post; one takes.
 */
final class RankInbox {
  /**
   * One posted item.
   *
   * @param command what to do
   * @param listener hears about the request that the command submits
   * @param reply hears the answer
   */
  record Mail(EngineCommand command, RankListener listener, @Nullable CommandListener reply) {
    void abandon() {
      boolean submits =
          command instanceof EngineCommand.Submit
              || command instanceof EngineCommand.SubmitHandoffPrefill
              || command instanceof EngineCommand.ReserveDestination;
      if (submits) {
        listener.output(0, FinishReason.ABORTED);
      }
      if (reply != null) {
        reply.abandoned();
      }
    }
  }

  private static final int MAX_COMMANDS = 1 << 30;

  private final ConcurrentLinkedQueue<Mail> requests = new ConcurrentLinkedQueue<>();
  private final ConcurrentLinkedQueue<Mail> commands = new ConcurrentLinkedQueue<>();
  private final Semaphore room;
  private volatile boolean closed;

  RankInbox(int commandCapacity) {
    this.room = new Semaphore(Math.min(commandCapacity, MAX_COMMANDS));
  }

  static boolean aboutHandoff(EngineCommand command) {
    return command instanceof EngineCommand.SubmitHandoffPrefill
        || command instanceof EngineCommand.ReleaseSource
        || command instanceof EngineCommand.CancelSource
        || command instanceof EngineCommand.ReserveDestination
        || command instanceof EngineCommand.ActivateDestination
        || command instanceof EngineCommand.CancelDestination;
  }

  /** Posts to the unbounded lane. */
  void post(Mail mail) {
    requests.add(mail);
    abandonIfClosed();
  }

  /** Posts to the bounded lane; false if it is full. */
  boolean offer(Mail mail) {
    if (!room.tryAcquire()) {
      return false;
    }
    commands.add(mail);
    abandonIfClosed();
    return true;
  }

  /** Posts to the bounded lane, waiting for room. */
  void put(Mail mail) throws InterruptedException {
    room.acquire();
    commands.add(mail);
    abandonIfClosed();
  }

  @Nullable Mail pollRequest() {
    return requests.poll();
  }

  @Nullable Mail pollCommand() {
    Mail mail = commands.poll();
    if (mail != null) {
      room.release();
    }
    return mail;
  }

  boolean hasRequests() {
    return !requests.isEmpty();
  }

  boolean hasCommands() {
    return !commands.isEmpty();
  }

  /** Abandons what was not taken, and from now on everything that is posted. */
  void close() {
    closed = true;
    abandonIfClosed();
    room.release(MAX_COMMANDS);
  }

  private void abandonIfClosed() {
    if (!closed) {
      return;
    }
    for (Mail mail = requests.poll(); mail != null; mail = requests.poll()) {
      mail.abandon();
    }
    for (Mail mail = commands.poll(); mail != null; mail = commands.poll()) {
      mail.abandon();
    }
  }
}
