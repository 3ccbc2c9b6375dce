package dev.warmpath.policy;

import dev.warmpath.api.RouteDecision.CandidateView;
import dev.warmpath.health.RankState;
import dev.warmpath.worker.WorkerRank;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** Links in a row, behind filters: every built-in policy is one, of one link or more. */
final class ChainPolicy implements RoutingPolicy {
  private final String name;
  private final Link[] links;
  private final WorkerFilters filters;
  private final boolean affinity;

  ChainPolicy(List<Link> links, WorkerFilters filters) {
    this.links = links.toArray(new Link[0]);
    this.filters = filters;
    this.name = String.join(">", links.stream().map(Link::name).toList());
    this.affinity = links.stream().anyMatch(Link::affinity);
  }

  Link[] links() {
    return links;
  }

  WorkerFilters filters() {
    return filters;
  }

  /** Whether a part of it has {@link Link#affinity()}. */
  boolean affinity() {
    return affinity;
  }

  /** The name of the link that placed a candidate; the last one's where none had an opinion. */
  String stepName(@Nullable Link placedBy) {
    return (placedBy == null ? links[links.length - 1] : placedBy).name();
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public RoutePlan plan(RouteContext context) {
    return new ChainPlan(this, context);
  }

  @Override
  public RouteExplanation explain(RouteContext context) {
    ChainPlan plan = new ChainPlan(this, context.asRehearsal());
    BoardPool boards = context.environment().boards();
    Board board = boards.borrow();
    try {
      return explain(plan, board);
    } finally {
      boards.giveBack(board);
    }
  }

  private RouteExplanation explain(ChainPlan plan, Board board) {
    List<CandidateView> views = new ArrayList<>();
    List<String> steps = new ArrayList<>();
    boolean any = board.open(plan);
    steps.add(standings(board));
    addDegraded(steps, board);
    boolean first = true;
    while (any) {
      int chosen = board.pick(links);
      board.readMatches();
      Link placedBy = board.placedBy();
      int expected = placedBy == null ? -1 : placedBy.expected(board, chosen);
      views.add(
          view(
              board,
              chosen,
              stepName(placedBy),
              board.placedScore(),
              expected < 0 ? board.matched(chosen) : expected,
              placedBy == null ? Map.of() : placedBy.terms(board, chosen)));
      if (first) {
        first = false;
        for (Link link : links) {
          String note = link.note(board);
          if (note != null) {
            steps.add(note);
          }
        }
        steps.add(
            placedBy == null
                ? "no policy had an opinion: " + board.rank(chosen) + " by chance"
                : placedBy.name() + " prefers " + board.rank(chosen));
      }
      plan.claim(chosen);
      any = board.again();
    }
    for (int i = 0; i < board.candidates().size(); i++) {
      if (board.tierOf(i) == Board.LEFT_OUT) {
        views.add(view(board, i, "filter", Double.NaN, 0, Map.of()));
      }
    }
    return new RouteExplanation(views, steps);
  }

  private static String standings(Board board) {
    int[] counts = new int[Board.LEFT_OUT + 1];
    for (int i = 0; i < board.candidates().size(); i++) {
      counts[board.tierOf(i)]++;
    }
    StringBuilder text = new StringBuilder();
    text.append(board.candidates().size()).append(" candidates for role ");
    text.append(board.candidates().role().label());
    append(text, counts[Board.AVOIDED], "avoided by this request");
    append(text, counts[Board.SUSPECT], "suspect");
    append(text, counts[Board.DOWN], "down");
    append(text, counts[Board.LEFT_OUT], "left out by a filter");
    return text.toString();
  }

  private void addDegraded(List<String> steps, Board board) {
    for (int i = 0; i < board.candidates().size(); i++) {
      RankState state = board.state(i);
      if (board.tierOf(i) <= Board.AVOIDED && state.degradation().degraded()) {
        steps.add(
            String.format(
                Locale.ROOT,
                "%s is %s: it keeps %.0f %% of its requests%s",
                board.rank(i),
                state.degradation().label(),
                100 * state.share(affinity),
                board.tierOf(i) == Board.AVOIDED ? ", not this one" : ""));
      }
    }
  }

  private static void append(StringBuilder text, int count, String what) {
    if (count > 0) {
      text.append(", ").append(count).append(' ').append(what);
    }
  }

  private static CandidateView view(
      Board board, int candidate, String step, double score, int held, Map<String, Double> terms) {
    WorkerRank rank = board.rank(candidate);
    OptionalInt number = rank.rank();
    return new CandidateView(
        rank.worker().id().value(),
        number.isPresent() ? number.getAsInt() : null,
        board.candidates().role().label(),
        step,
        score,
        terms,
        held,
        board.state(candidate).label());
  }
}
