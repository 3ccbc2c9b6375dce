package dev.warmpath.fake.handoff;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.fake.handoff.HandoffAction.Kind;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Walks every order in which two asynchronous sides, a transfer and one mishap can play out a
 * handoff: commands and answers travel through queues, sides progress when they like, and the
 * handoff is cancelled, times out, fails or loses an answer at any moment, or has an answer
 * repeated.
 */
class HandoffInterleavingsTest {
  private enum Mishap {
    NONE,
    CANCEL,
    TIMEOUT,
    FAILURE,
    LOST_ANSWER,
    REPEATED_ANSWER
  }

  /** Chooses a path through a tree of decisions, and then the next one. */
  private static final class Choices {
    private final List<int[]> path = new ArrayList<>();
    private int at;

    int choose(int options) {
      if (at == path.size()) {
        path.add(new int[] {0, options});
      }
      return path.get(at++)[0];
    }

    boolean next() {
      at = 0;
      while (!path.isEmpty()) {
        int[] last = path.get(path.size() - 1);
        if (++last[0] < last[1]) {
          return true;
        }
        path.remove(path.size() - 1);
      }
      return false;
    }
  }

  /** What a side tells the coordinator. */
  private record Message(@Nullable HandoffAction answered, @Nullable ActionOutcome outcome) {}

  /** A worker: it has nothing, works on what it was asked for, or is ready. */
  private static final class Side {
    enum Stage {
      NOTHING,
      ASKED,
      READY,
      ACTIVE
    }

    final boolean source;
    final ArrayDeque<HandoffAction> commands = new ArrayDeque<>();
    final ArrayDeque<Message> messages = new ArrayDeque<>();
    Stage stage = Stage.NOTHING;

    Side(boolean source) {
      this.source = source;
    }

    void take(boolean fail) {
      HandoffAction action = commands.remove();
      ActionOutcome outcome = fail ? ActionOutcome.FAILED : apply(action.kind());
      messages.add(new Message(action, outcome));
    }

    private ActionOutcome apply(Kind kind) {
      switch (kind) {
        case SUBMIT_PREFILL -> {
          stage = Stage.ASKED;
          return ActionOutcome.SUBMITTED;
        }
        case RESERVE_DESTINATION -> {
          stage = Stage.ASKED;
          return ActionOutcome.ACCEPTED;
        }
        case ACTIVATE_DESTINATION -> {
          if (stage != Stage.READY) {
            return ActionOutcome.NOOP;
          }
          stage = Stage.ACTIVE;
          return ActionOutcome.APPLIED;
        }
        default -> {
          boolean something = stage != Stage.NOTHING;
          stage = Stage.NOTHING;
          return something ? ActionOutcome.APPLIED : ActionOutcome.NOOP;
        }
      }
    }

    void progress() {
      stage = Stage.READY;
      messages.add(new Message(null, null));
    }
  }

  private enum Transfer {
    NONE,
    ORDERED,
    MOVING,
    DONE
  }

  private static final class World {
    final Side source = new Side(true);
    final Side destination = new Side(false);
    final HandoffCoordinator coordinator;
    final List<Kind> issued = new ArrayList<>();
    Transfer transfer = Transfer.NONE;
    @Nullable HandoffAction transferAction;
    Mishap pending;
    boolean answerLost;

    World(HandoffOrder order, Mishap mishap) {
      coordinator = new HandoffCoordinator(HandoffSettings.of(order), 8, 0);
      pending = mishap;
      issue(coordinator.start());
    }

    void issue(List<HandoffAction> actions) {
      for (HandoffAction action : actions) {
        issued.add(action.kind());
        switch (action.kind()) {
          case SUBMIT_PREFILL, RELEASE_SOURCE, CANCEL_SOURCE -> source.commands.add(action);
          case START_TRANSFER -> {
            transfer = Transfer.ORDERED;
            transferAction = action;
          }
          default -> destination.commands.add(action);
        }
      }
    }

    /** Everything that may happen next. */
    List<Runnable> possibilities() {
      List<Runnable> next = new ArrayList<>();
      for (Side side : List.of(source, destination)) {
        if (!side.commands.isEmpty()) {
          next.add(() -> side.take(false));
          Kind kind = side.commands.element().kind();
          boolean cleanup = kind == Kind.CANCEL_SOURCE || kind == Kind.CANCEL_DESTINATION;
          if (pending == Mishap.FAILURE && !cleanup) {
            next.add(() -> fail(side));
          }
        }
        if (side.stage == Side.Stage.ASKED) {
          next.add(side::progress);
        }
        if (!side.messages.isEmpty()) {
          next.add(() -> hear(side, side.messages.remove()));
          boolean answer = side.messages.element().answered() != null;
          if (pending == Mishap.LOST_ANSWER && answer) {
            next.add(() -> lose(side));
          }
          if (pending == Mishap.REPEATED_ANSWER) {
            next.add(() -> repeat(side));
          }
        }
      }
      if (transfer == Transfer.ORDERED) {
        next.add(this::schedule);
      } else if (transfer == Transfer.MOVING) {
        next.add(this::arrive);
      }
      if (pending == Mishap.CANCEL) {
        next.add(() -> giveUp(coordinator.abort(AbortReason.CANCELED)));
      } else if (pending == Mishap.TIMEOUT) {
        next.add(() -> giveUp(coordinator.expire(1e9)));
      } else if (answerLost && next.isEmpty() && coordinator.end() == null) {
        next.add(() -> giveUp(coordinator.expire(1e9)));
      }
      return next;
    }

    private void fail(Side side) {
      pending = Mishap.NONE;
      side.take(true);
    }

    private void lose(Side side) {
      pending = Mishap.NONE;
      answerLost = true;
      side.messages.clear(); // with whatever it said after it, as when a connection breaks
    }

    private void repeat(Side side) {
      pending = Mishap.NONE;
      Message message = side.messages.remove();
      hear(side, message);
      hear(side, message);
    }

    private void giveUp(List<HandoffAction> cleanup) {
      pending = Mishap.NONE;
      issue(cleanup);
    }

    private void hear(Side side, Message message) {
      HandoffAction answered = message.answered();
      if (answered != null) {
        issue(coordinator.outcome(answered.id(), message.outcome()));
      } else if (answerLost && coordinator.abortReason() == null) {
        // a fact whose acknowledgement was lost is not delivered by a transport that keeps order
        return;
      } else {
        issue(side.source ? coordinator.sourceHeld(5) : coordinator.destinationReserved(8));
      }
    }

    private void schedule() {
      transfer = Transfer.MOVING;
      issue(coordinator.outcome(transferAction.id(), ActionOutcome.SCHEDULED));
    }

    private void arrive() {
      transfer = Transfer.DONE;
      issue(coordinator.transferCompleted());
    }
  }

  private static int walk(HandoffOrder order, Mishap mishap) {
    Choices choices = new Choices();
    int paths = 0;
    do {
      World world = new World(order, mishap);
      int steps = 0;
      for (List<Runnable> next = world.possibilities();
          !next.isEmpty();
          next = world.possibilities()) {
        next.get(choices.choose(next.size())).run();
        assertThat(++steps).isLessThan(100);
      }
      verify(world);
      paths++;
    } while (choices.next());
    return paths;
  }

  private static void verify(World world) {
    HandoffEnd end = world.coordinator.end();
    assertThat(end).as("ends after %s", world.issued).isNotNull();
    assertThat(world.issued).doesNotHaveDuplicates();
    assertThat(world.source.stage).isEqualTo(Side.Stage.NOTHING);
    assertThat(world.destination.stage)
        .isEqualTo(end == HandoffEnd.SUCCESS ? Side.Stage.ACTIVE : Side.Stage.NOTHING);
    if (end == HandoffEnd.SUCCESS) {
      assertThat(world.issued).endsWith(Kind.ACTIVATE_DESTINATION, Kind.RELEASE_SOURCE);
    } else {
      assertThat(world.issued.contains(Kind.CANCEL_SOURCE))
          .isEqualTo(world.issued.contains(Kind.SUBMIT_PREFILL));
      assertThat(world.issued.contains(Kind.CANCEL_DESTINATION))
          .isEqualTo(world.issued.contains(Kind.RESERVE_DESTINATION));
    }
  }

  @ParameterizedTest
  @EnumSource(HandoffOrder.class)
  void everyInterleavingEndsWithBothSidesCleanedUp(HandoffOrder order) {
    int paths = 0;
    for (Mishap mishap : Mishap.values()) {
      paths += walk(order, mishap);
    }
    assertThat(paths).isGreaterThan(3_000);
  }
}
