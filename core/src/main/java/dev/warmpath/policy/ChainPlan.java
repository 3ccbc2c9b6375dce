package dev.warmpath.policy;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * A plan that works out each candidate when it is asked for. What was given is one number for the
 * first and bits once there are more, so that the usual plan is one small object whatever the size
 * of the fleet.
 */
final class ChainPlan implements RoutePlan {
  private static final VarHandle FIRST;
  private static final VarHandle GIVEN;
  private static final VarHandle TURN;
  private static final VarHandle BITS = MethodHandles.arrayElementVarHandle(long[].class);

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      FIRST = lookup.findVarHandle(ChainPlan.class, "first", int.class);
      GIVEN = lookup.findVarHandle(ChainPlan.class, "given", long[].class);
      TURN = lookup.findVarHandle(ChainPlan.class, "turn", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final ChainPolicy policy;
  private final RouteContext context;

  /** One more than the first that was given; 0 for none. */
  @SuppressWarnings("unused") // through FIRST
  private int first;

  /** Those given, but for the first. */
  @SuppressWarnings("unused") // through GIVEN
  private long @Nullable [] given;

  /** The round-robin turn with the sign bit set; 0 before it was taken. */
  @SuppressWarnings("unused") // through TURN
  private long turn;

  ChainPlan(ChainPolicy policy, RouteContext context) {
    this.policy = policy;
    this.context = context;
  }

  ChainPolicy policy() {
    return policy;
  }

  RouteContext context() {
    return context;
  }

  @Override
  public @Nullable Candidate next() {
    BoardPool boards = context.environment().boards();
    Board board = boards.borrow();
    try {
      while (board.open(this)) {
        int chosen = board.pick(policy.links());
        if (claim(chosen)) {
          Link placedBy = board.placedBy();
          int predicted = board.predictedAlone(chosen);
          int expected = placedBy == null ? -1 : placedBy.expected(board, chosen);
          return new Candidate(
              board.rank(chosen),
              policy.stepName(placedBy),
              board.placedScore(),
              expected < 0 ? board.credited(chosen, predicted) : expected,
              predicted,
              board.tier() >= Board.SUSPECT);
        }
        // Another thread was given it meanwhile.
      }
      return null;
    } finally {
      boards.giveBack(board);
    }
  }

  boolean untouched() {
    return (int) FIRST.getVolatile(this) == 0;
  }

  boolean given(int candidate) {
    int known = (int) FIRST.getVolatile(this);
    if (known == 0) {
      return false;
    }
    if (known == candidate + 1) {
      return true;
    }
    long[] bits = (long[]) GIVEN.getVolatile(this);
    return bits != null && ((long) BITS.getVolatile(bits, candidate >> 6) >>> candidate & 1) != 0;
  }

  /** Marks a candidate as given; false when it was already. */
  boolean claim(int candidate) {
    int known = (int) FIRST.getVolatile(this);
    if (known == 0) {
      if (FIRST.compareAndSet(this, 0, candidate + 1)) {
        return true;
      }
      known = (int) FIRST.getVolatile(this);
    }
    if (known == candidate + 1) {
      return false;
    }
    long[] bits = (long[]) GIVEN.getVolatile(this);
    if (bits == null) {
      long[] fresh = new long[(context.candidates().size() + 63) >> 6];
      long[] won = (long[]) GIVEN.compareAndExchange(this, null, fresh);
      bits = won == null ? fresh : won;
    }
    long bit = 1L << candidate;
    return ((long) BITS.getAndBitwiseOr(bits, candidate >> 6, bit) & bit) == 0;
  }

  /** This plan's round-robin turn: taken when first asked for, only looked at by a rehearsal. */
  long turn() {
    long known = (long) TURN.getVolatile(this);
    if (known == 0) {
      Cursors cursors = context.environment().cursors();
      long set = context.candidates().key();
      long mine = (context.rehearsal() ? cursors.peek(set) : cursors.take(set)) | 1L << 63;
      long won = (long) TURN.compareAndExchange(this, 0L, mine);
      known = won == 0 ? mine : won;
    }
    return known & Long.MAX_VALUE;
  }
}
