package dev.warmpath.fake.handoff;

import dev.warmpath.fake.handoff.HandoffAction.Kind;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The protocol of one handoff, as a state machine: facts and outcomes in, actions out.
 *
 * <p>Source first: submit the prompt, wait until its KV is held, reserve room, wait until it is
 * reserved, transfer, activate the destination, release the source. Destination first: the
 * reservation comes before the prompt; the rest is the same. The model is the coordinator of NVIDIA
 * Dynamo's mocker ({@code handoff.rs}).
 *
 * <p>Giving up, for whatever reason and whenever, cancels each side that was <em>asked</em> for
 * something, whether or not it has answered, because an unanswered command may have been carried
 * out. Cancelling a side that has nothing is harmless. The handoff has ended when both cancels are
 * answered; whatever else arrives meanwhile or later is ignored.
 *
 * <p>A fact or outcome that repeats an earlier one changes nothing. One that contradicts an earlier
 * one, or that can't happen yet, is an {@link IllegalStateException}: a driver's mistake.
 *
 * <p>Not thread-safe. Times are milliseconds of whoever drives it.
 */
public final class HandoffCoordinator {
  private final HandoffSettings settings;
  private final int promptTokens;
  private final Map<Integer, HandoffAction> actions = new HashMap<>();
  private final Map<Integer, ActionOutcome> outcomes = new HashMap<>();
  private final Map<Kind, HandoffAction> issued = new EnumMap<>(Kind.class);
  private double deadlineMs;
  private boolean started;
  private double sourceTransferMs = Double.NaN;
  private int transferableTokens = -1;
  private boolean transferred;
  private @Nullable AbortReason abortReason;
  private @Nullable HandoffEnd end;

  /**
   * Prepares a handoff.
   *
   * @param settings how to conduct it
   * @param promptTokens length of the prompt
   * @param nowMs when its time begins to count
   */
  public HandoffCoordinator(HandoffSettings settings, int promptTokens, double nowMs) {
    this.settings = Objects.requireNonNull(settings, "settings");
    if (promptTokens < 0) {
      throw new IllegalArgumentException("promptTokens must be 0 or more, was " + promptTokens);
    }
    this.promptTokens = promptTokens;
    this.deadlineMs = nowMs + settings.timeoutMs();
  }

  /**
   * Begins.
   *
   * @return what to do first; nothing if it was given up before
   */
  public List<HandoffAction> start() {
    if (started) {
      throw new IllegalStateException("the handoff has started");
    }
    started = true;
    if (end != null) {
      return List.of();
    }
    return List.of(issue(sourceFirst() ? Kind.SUBMIT_PREFILL : Kind.RESERVE_DESTINATION, 0));
  }

  private boolean sourceFirst() {
    return settings.order() == HandoffOrder.SOURCE_FIRST;
  }

  private HandoffAction issue(Kind kind, double delayMs) {
    HandoffAction action = new HandoffAction(actions.size(), kind, delayMs);
    actions.put(action.id(), action);
    issued.put(kind, action);
    return action;
  }

  /**
   * Takes the outcome of an action.
   *
   * @param actionId the action's id
   * @param outcome what became of it
   * @return what to do next
   * @throws IllegalStateException if no such action was issued, it can't have this outcome, it has
   *     had another one, or a cleanup action failed
   */
  public List<HandoffAction> outcome(int actionId, ActionOutcome outcome) {
    HandoffAction action = actions.get(actionId);
    if (action == null) {
      throw new IllegalStateException("no action " + actionId + " was issued");
    }
    if (!possible(action.kind(), outcome)) {
      throw new IllegalStateException(action.kind() + " can't be " + outcome);
    }
    ActionOutcome before = outcomes.putIfAbsent(actionId, outcome);
    if (before == outcome) {
      return List.of();
    }
    if (before != null) {
      throw new IllegalStateException(
          action.kind() + " was " + before + " and can't be " + outcome + " as well");
    }
    return switch (action.kind()) {
      case CANCEL_SOURCE, CANCEL_DESTINATION -> cleanedUp(action.kind(), outcome);
      case SUBMIT_PREFILL, RESERVE_DESTINATION, START_TRANSFER -> acknowledged(outcome);
      case ACTIVATE_DESTINATION -> activated(outcome);
      case RELEASE_SOURCE -> released(outcome);
    };
  }

  private static boolean possible(Kind kind, ActionOutcome outcome) {
    if (outcome == ActionOutcome.FAILED) {
      return true;
    }
    return switch (kind) {
      case SUBMIT_PREFILL -> outcome == ActionOutcome.SUBMITTED;
      case RESERVE_DESTINATION -> outcome == ActionOutcome.ACCEPTED;
      case START_TRANSFER -> outcome == ActionOutcome.SCHEDULED;
      case ACTIVATE_DESTINATION, RELEASE_SOURCE, CANCEL_SOURCE, CANCEL_DESTINATION ->
          outcome == ActionOutcome.APPLIED || outcome == ActionOutcome.NOOP;
    };
  }

  private List<HandoffAction> acknowledged(ActionOutcome outcome) {
    return outcome == ActionOutcome.FAILED ? abort(AbortReason.FAILED) : List.of();
  }

  /** A destination that isn't there to be activated is as good as a failed one. */
  private List<HandoffAction> activated(ActionOutcome outcome) {
    if (abortReason != null) {
      return List.of();
    }
    return outcome == ActionOutcome.APPLIED
        ? List.of(issue(Kind.RELEASE_SOURCE, 0))
        : abort(AbortReason.FAILED);
  }

  private List<HandoffAction> released(ActionOutcome outcome) {
    if (abortReason != null) {
      return List.of();
    }
    if (outcome == ActionOutcome.FAILED) {
      return abort(AbortReason.FAILED);
    }
    end = HandoffEnd.SUCCESS;
    return List.of();
  }

  private List<HandoffAction> cleanedUp(Kind kind, ActionOutcome outcome) {
    if (outcome == ActionOutcome.FAILED) {
      throw new IllegalStateException(kind + " failed: the side may be left with the handoff");
    }
    if (answered(Kind.CANCEL_SOURCE) && answered(Kind.CANCEL_DESTINATION)) {
      end = HandoffEnd.CANCELED;
    }
    return List.of();
  }

  /** Whether an action was answered, or never issued. */
  private boolean answered(Kind kind) {
    HandoffAction action = issued.get(kind);
    return action == null || outcomes.containsKey(action.id());
  }

  private boolean acknowledged(Kind kind, ActionOutcome outcome) {
    HandoffAction action = issued.get(kind);
    return action != null && outcomes.get(action.id()) == outcome;
  }

  /**
   * Takes the fact that the source holds the prompt's KV.
   *
   * @param transferMs time to move the KV of the whole prompt, in milliseconds
   * @return what to do next
   * @throws IllegalStateException if the prompt was not submitted, or was held before with another
   *     transfer time
   * @throws IllegalArgumentException if the time is negative or not finite
   */
  public List<HandoffAction> sourceHeld(double transferMs) {
    if (!(transferMs >= 0) || Double.isInfinite(transferMs)) {
      throw new IllegalArgumentException("a transfer can't take " + transferMs + " ms");
    }
    if (abortReason != null) {
      return List.of();
    }
    require(acknowledged(Kind.SUBMIT_PREFILL, ActionOutcome.SUBMITTED), "held", "submitted");
    if (!Double.isNaN(sourceTransferMs)) {
      requireSame(sourceTransferMs == transferMs, "source held");
      return List.of();
    }
    sourceTransferMs = transferMs;
    return List.of(sourceFirst() ? issue(Kind.RESERVE_DESTINATION, 0) : startTransfer());
  }

  /**
   * Takes the fact that the destination has room for the prompt.
   *
   * @param tokens room of the blocks that were not in the destination's cache
   * @return what to do next
   * @throws IllegalStateException if no reservation was accepted, or room was reserved before for
   *     another number of tokens
   * @throws IllegalArgumentException if the number is negative
   */
  public List<HandoffAction> destinationReserved(int tokens) {
    if (tokens < 0) {
      throw new IllegalArgumentException("tokens must be 0 or more, was " + tokens);
    }
    if (abortReason != null) {
      return List.of();
    }
    require(acknowledged(Kind.RESERVE_DESTINATION, ActionOutcome.ACCEPTED), "reserved", "accepted");
    if (transferableTokens >= 0) {
      requireSame(transferableTokens == tokens, "destination reserved");
      return List.of();
    }
    transferableTokens = tokens;
    return List.of(sourceFirst() ? startTransfer() : issue(Kind.SUBMIT_PREFILL, 0));
  }

  private HandoffAction startTransfer() {
    boolean whole =
        settings.timing() == TransferTiming.FULL_PROMPT || transferableTokens >= promptTokens;
    double delayMs =
        whole ? sourceTransferMs : sourceTransferMs * transferableTokens / promptTokens;
    deadlineMs += delayMs;
    return issue(Kind.START_TRANSFER, delayMs);
  }

  /**
   * Takes the fact that the KV has arrived.
   *
   * @return what to do next
   * @throws IllegalStateException if no transfer was scheduled
   */
  public List<HandoffAction> transferCompleted() {
    if (abortReason != null) {
      return List.of();
    }
    require(acknowledged(Kind.START_TRANSFER, ActionOutcome.SCHEDULED), "transferred", "scheduled");
    if (transferred) {
      return List.of();
    }
    transferred = true;
    return List.of(issue(Kind.ACTIVATE_DESTINATION, 0));
  }

  private static void require(boolean condition, String fact, String before) {
    if (!condition) {
      throw new IllegalStateException(fact + " before it was " + before);
    }
  }

  private static void requireSame(boolean condition, String fact) {
    if (!condition) {
      throw new IllegalStateException(fact + " twice, and differently");
    }
  }

  /**
   * Gives up. Without effect once it was given up or has ended.
   *
   * @param reason why
   * @return what is to be undone
   */
  public List<HandoffAction> abort(AbortReason reason) {
    Objects.requireNonNull(reason, "reason");
    if (abortReason != null || end != null) {
      return List.of();
    }
    abortReason = reason;
    List<HandoffAction> cleanup = new ArrayList<>();
    if (issued.containsKey(Kind.SUBMIT_PREFILL)) {
      cleanup.add(issue(Kind.CANCEL_SOURCE, 0));
    }
    if (issued.containsKey(Kind.RESERVE_DESTINATION)) {
      cleanup.add(issue(Kind.CANCEL_DESTINATION, 0));
    }
    if (cleanup.isEmpty()) {
      end = HandoffEnd.CANCELED;
    }
    return List.copyOf(cleanup);
  }

  /**
   * Gives up if the time is over.
   *
   * @param nowMs the present time
   * @return what is to be undone; nothing before the deadline
   */
  public List<HandoffAction> expire(double nowMs) {
    return nowMs >= deadlineMs ? abort(AbortReason.TIMED_OUT) : List.of();
  }

  /**
   * Tells when {@link #expire} gives up. The time of the transfer is added when it starts.
   *
   * @return the time, or positive infinity once it was given up or has ended
   */
  public double deadlineMs() {
    return abortReason == null && end == null ? deadlineMs : Double.POSITIVE_INFINITY;
  }

  /**
   * Tells how it ended.
   *
   * @return the end, or null while it goes on
   */
  public @Nullable HandoffEnd end() {
    return end;
  }

  /**
   * Tells why it was given up.
   *
   * @return the reason, or null if it was not
   */
  public @Nullable AbortReason abortReason() {
    return abortReason;
  }
}
