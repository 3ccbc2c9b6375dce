package dev.warmpath.policy;

import dev.warmpath.worker.WorkerId;
import dev.warmpath.worker.WorkerRank;
import org.jspecify.annotations.Nullable;

/**
 * The worker, or the rank of it, that the request names. A preference: it loses to health, and one
 * that names nobody says nothing.
 */
final class PinLink implements Link {
  private static final int LONGEST_SHOWN = 200;
  private static final int ANY_RANK = -1;
  private static final int NO_RANK = -2;
  private static final int UNHEARD_OF = -3;

  @Override
  public String name() {
    return "pin";
  }

  @Override
  public boolean score(Board board) {
    String pin = board.context().options().pin();
    if (pin == null) {
      return false;
    }
    String worker = workerOf(pin, board);
    if (worker == null) {
      return false;
    }
    int rank = rankOf(pin);
    boolean any = false;
    for (int k = 0; k < board.liveCount(); k++) {
      int i = board.live(k);
      boolean named = names(worker, rank, board.rank(i));
      board.score[i] = named ? 0 : 1;
      any |= named;
    }
    return any;
  }

  private static boolean names(String worker, int rank, WorkerRank candidate) {
    return candidate.worker().id().value().equals(worker)
        && (rank == ANY_RANK || candidate.rank().orElse(NO_RANK) == rank);
  }

  /** The pinned worker's normal name if it is a candidate: as written, or else normalised. */
  private static @Nullable String workerOf(String pin, Board board) {
    int end = pin.lastIndexOf('#');
    int length = end < 0 ? pin.length() : end;
    for (int i = 0; i < board.candidates().size(); i++) {
      String id = board.rank(i).worker().id().value();
      if (id.length() == length && pin.startsWith(id)) {
        return id;
      }
    }
    String id;
    try {
      id = WorkerId.parse(pin.substring(0, length)).value();
    } catch (IllegalArgumentException e) {
      return null;
    }
    for (int i = 0; i < board.candidates().size(); i++) {
      if (board.rank(i).worker().id().value().equals(id)) {
        return id;
      }
    }
    return null;
  }

  /** The number after the last {@code #}. */
  private static int rankOf(String pin) {
    int at = pin.lastIndexOf('#');
    if (at < 0) {
      return ANY_RANK;
    }
    int rank = 0;
    int digits = pin.length() - at - 1;
    if (digits == 0 || digits > 6) {
      return UNHEARD_OF;
    }
    for (int i = at + 1; i < pin.length(); i++) {
      int digit = pin.charAt(i) - '0';
      if (digit < 0 || digit > 9) {
        return UNHEARD_OF;
      }
      rank = rank * 10 + digit;
    }
    return rank;
  }

  @Override
  public @Nullable String note(Board board) {
    String pin = board.context().options().pin();
    if (pin == null) {
      return null;
    }
    String worker = workerOf(pin, board);
    int rank = rankOf(pin);
    int best = -1;
    for (int i = 0; worker != null && i < board.candidates().size(); i++) {
      if (names(worker, rank, board.rank(i))
          && (best < 0 || board.tierOf(i) < board.tierOf(best))) {
        best = i;
      }
    }
    String shown = pin.length() > LONGEST_SHOWN ? pin.substring(0, LONGEST_SHOWN) + "…" : pin;
    if (best < 0) {
      return "pin " + shown + " is none of the candidates: ignored";
    }
    return switch (board.tierOf(best)) {
      case Board.HEALTHY, Board.AVOIDED -> "pin " + shown;
      case Board.LEFT_OUT -> "pin " + shown + " is left out by a filter: ignored";
      default ->
          "pin " + shown + " is " + board.state(best).availability().label() + ": a last resort";
    };
  }
}
