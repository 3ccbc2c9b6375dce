package dev.warmpath.policy;

import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The prompt's {@link Home}, or what costs less among the next in its own order of workers. */
final class HomingLink implements Link {
  private static final int SHOWN = 8;

  private final HomingSettings settings;

  HomingLink(HomingSettings settings) {
    this.settings = settings;
  }

  @Override
  public String name() {
    return "homing";
  }

  @Override
  public boolean affinity() {
    return true;
  }

  @Override
  public boolean score(Board board) {
    Home home = board.home();
    HomingCost cost = board.homing();
    home.find(board, settings);
    cost.read(board, settings);
    for (int k = 0; k < board.liveCount(); k++) {
      board.score[board.live(k)] = Double.POSITIVE_INFINITY;
    }
    int size = home.size();
    double lowest = Double.POSITIVE_INFINITY;
    for (int k = 0; k < size; k++) {
      int i = home.get(k);
      double total = cost.total(board, settings, i);
      // Of equals the first in the key's order, for all clients alike.
      board.score[i] = total == lowest ? Math.nextUp(total) : total;
      lowest = Math.min(lowest, total);
    }
    return true;
  }

  @Override
  public int expected(Board board, int candidate) {
    return (int) board.homing().expected(board, candidate);
  }

  @Override
  public Map<String, Double> terms(Board board, int candidate) {
    HomingCost cost = board.homing();
    double pace = cost.pace(board, settings, candidate);
    return Terms.of()
        .add("queue", cost.queue(pace, candidate))
        .add("requests", cost.requests(settings, candidate))
        .add("usage", cost.usage(board, candidate))
        .add("uncached", cost.uncached(board, pace, candidate))
        .add("margin", cost.margin(board, settings, candidate))
        .add("displacement", cost.displacement(board, settings, pace, candidate))
        .map();
  }

  @Override
  public @Nullable String note(Board board) {
    Home home = board.home();
    StringBuilder text = new StringBuilder("homing: ");
    if (board.context().options().sessionKey() != null) {
      text.append("keyed by the session");
    } else if (board.context().prompt().contentKeys().size() == 0) {
      text.append("too short for a key");
    } else if (home.hubTokens() == 0) {
      text.append("no hub");
    } else {
      text.append("hub at token ").append(home.hubTokens());
    }
    text.append(" of ").append(board.context().prompt().tokens());
    text.append(", key ").append(String.format(Locale.ROOT, "%016x", home.key()));
    text.append(", replicas ").append(home.replicas()).append(", order");
    for (int k = 0; k < Math.min(SHOWN, home.ranked()); k++) {
      text.append(k == 0 ? " " : ", ").append(board.rank(home.get(k)));
    }
    if (home.informed()) {
      text.append("; caches are reported");
    }
    return text.append(why(board)).toString();
  }

  private String why(Board board) {
    Home home = board.home();
    int best = board.live(0);
    if (home.number() == best) {
      return "; at home";
    }
    if (!home.atHome()) {
      return "; home " + board.rank(home.number()) + " is not in play";
    }
    HomingCost cost = board.homing();
    return String.format(
        Locale.ROOT,
        "; away from home %s, which costs %.1f ms rather than %.1f",
        board.rank(home.number()),
        cost.total(board, settings, home.number()),
        cost.total(board, settings, best));
  }
}
