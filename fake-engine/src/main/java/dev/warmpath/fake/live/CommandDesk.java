package dev.warmpath.fake.live;

import dev.warmpath.fake.live.RankInbox.Mail;
import dev.warmpath.fake.scheduler.CommandResult;
import dev.warmpath.fake.scheduler.EngineCommand;
import dev.warmpath.fake.scheduler.EngineCore;
import dev.warmpath.fake.scheduler.FinishReason;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Applies commands to a scheduler and has their results published; knows which requests have to be
 * dropped in the end.
 */
final class CommandDesk {
  private final EngineCore core;
  private final BoundaryPublisher publisher;

  /** Requests whose KV may outlive them, by handoff. */
  private final Map<Long, Long> sourceRequests = new HashMap<>();

  CommandDesk(EngineCore core, BoundaryPublisher publisher) {
    this.core = core;
    this.publisher = publisher;
  }

  /** Queues a request; nothing of it shows yet. */
  void submit(Mail mail, double nowMs) {
    apply(mail, true, nowMs);
  }

  void applyDuringPass(Mail mail, double nowMs) {
    CommandResult result = apply(mail, false, nowMs);
    if (result != null) {
      publisher.commandDuringPass(mail, result, nowMs);
    }
  }

  void applyAtBoundary(Mail mail, double nowMs) {
    CommandResult result = apply(mail, true, nowMs);
    if (result != null) {
      publisher.commandAtBoundary(mail, result, core.metrics(), nowMs);
    }
  }

  /** Drops a request whose receiver is gone. */
  CommandResult drop(long requestId, double nowMs) {
    sourceRequests.values().remove(requestId);
    return core.apply(new EngineCommand.Cancel(requestId), false, nowMs);
  }

  /** Drops every request, and tells those who listen. */
  void abortAll(double nowMs) {
    for (long requestId : List.copyOf(sourceRequests.values())) {
      abort(requestId, nowMs);
    }
    for (long requestId : publisher.unfinished()) {
      abort(requestId, nowMs);
    }
  }

  private void abort(long requestId, double nowMs) {
    EngineCommand command = new EngineCommand.Cancel(requestId);
    applyAtBoundary(new Mail(command, RankListener.NONE, null), nowMs);
    publisher.end(requestId);
  }

  /** Applies a command; answers it and returns null if it can't be carried out. */
  private @Nullable CommandResult apply(Mail mail, boolean admitDestinations, double nowMs) {
    EngineCommand command = mail.command();
    Long requestId = submitted(command);
    if (requestId != null && !publisher.listen(requestId, mail.listener())) {
      refuse(mail, new IllegalArgumentException("request id " + requestId + " is in use"), nowMs);
      return null;
    }
    CommandResult result;
    try {
      result = core.apply(command, admitDestinations, nowMs);
    } catch (IllegalArgumentException e) {
      if (requestId != null) {
        publisher.forget(requestId);
      }
      refuse(mail, e, nowMs);
      return null;
    }
    trackSources(command);
    return result;
  }

  private void refuse(Mail mail, IllegalArgumentException reason, double nowMs) {
    if (submitted(mail.command()) != null) {
      mail.listener().output(0, FinishReason.REJECTED);
    }
    publisher.commandRefused(mail, reason, nowMs);
  }

  /** The id of the request that a command brings, if it brings one. */
  private static @Nullable Long submitted(EngineCommand command) {
    if (command instanceof EngineCommand.Submit submit) {
      return submit.request().id();
    }
    if (command instanceof EngineCommand.SubmitHandoffPrefill submit) {
      return submit.request().id();
    }
    if (command instanceof EngineCommand.ReserveDestination reserve) {
      return reserve.request().id();
    }
    return null;
  }

  private void trackSources(EngineCommand command) {
    if (command instanceof EngineCommand.SubmitHandoffPrefill submit) {
      sourceRequests.put(submit.handoffId(), submit.request().id());
    } else if (command instanceof EngineCommand.ReleaseSource release) {
      sourceRequests.remove(release.handoffId());
    } else if (command instanceof EngineCommand.CancelSource cancel) {
      sourceRequests.remove(cancel.handoffId());
    } else if (command instanceof EngineCommand.Cancel cancel) {
      sourceRequests.values().remove(cancel.requestId());
    }
  }
}
