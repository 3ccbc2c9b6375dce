package dev.warmpath.policy;

import dev.warmpath.index.BranchPath;
import dev.warmpath.prompt.ContentKeys;
import dev.warmpath.worker.CandidateSet;
import dev.warmpath.worker.StableHash;

/**
 * Where one prompt belongs: its hub, its key, how many replicas it deserves, and the candidates
 * that come into question in its own order. The working memory of one decision at a time.
 */
final class Home {
  /** A place in the order that is as good as none. */
  static final int FAR = Integer.MAX_VALUE;

  private static final int NO_KEY = 0x4b1d;
  private static final int CROWD = 0x5e07;

  /** Replicas beyond which each decision looks at a sample of them. */
  private static final int MOST_REPLICAS = 16;

  /** Holders of more than the hub that are considered besides. */
  private static final int HOLDERS = 4;

  /** More ranks that are considered where ranks report their caches. */
  private static final int MORE_RANKS = 2;

  private final BranchPath path = new BranchPath();
  private final Ranking ranking = new Ranking();
  private final Ranking holders = new Ranking();
  private final Ranking seeds = new Ranking();

  private int hub;
  private int hubTokens;
  private double presence;
  private long key;
  private int replicas;
  private int seedTokens;
  private int number;
  private boolean atHome;
  private boolean informed;
  private boolean seeded;
  private double seedShare;
  private long hubKey;

  /** Finds the home of the board's prompt. */
  void find(Board board, HomingSettings settings) {
    RouteContext context = board.context();
    ContentKeys keys = context.prompt().contentKeys();
    context.environment().branches().walk(keys, path);
    int workers = board.memberCount();
    int fork = settings.branches() ? Hub.find(path, workers) : Hub.NONE;
    hub = fork == Hub.NONE ? 0 : path.end(fork);
    hubTokens = keys.tokens(hub);
    presence = fork == Hub.NONE ? 0 : path.presence(fork);
    seedTokens = keys.tokens(Math.max(path.known(), hub + 1));
    replicas = 1;
    String session = context.options().sessionKey();
    if (session != null) {
      key = HomeKey.ofSession(session, keys.namespace());
    } else if (keys.size() == 0) {
      key = board.chance(NO_KEY, 0);
    } else {
      key = HomeKey.of(keys, hub);
      int unit = path.holding(Math.min(hub, keys.size() - 1));
      double count = unit < path.size() ? path.count(unit) : 1;
      replicas = Popularity.replicas(count, path.total(), workers);
    }
    number = best(board);
    inform(board, keys, fork);
    order(board, settings);
  }

  /** The first of all members, in play or not. */
  private int best(Board board) {
    CandidateSet candidates = board.candidates();
    int[] members = board.members();
    int count = board.memberCount();
    int best = members[0];
    long most = Long.MIN_VALUE;
    for (int k = 0; k < count; k++) {
      int i = members[k];
      long weight = StableHash.pair(key, candidates.stableHash(i)) + Long.MIN_VALUE;
      if (weight > most) {
        most = weight;
        best = i;
      }
    }
    return best;
  }

  /** Takes in what ranks report of their caches. */
  private void inform(Board board, ContentKeys keys, int fork) {
    informed = false;
    seeded = false;
    holders.clear();
    if (!board.anyTold()) {
      return;
    }
    board.readMatches();
    int told = 0;
    for (int k = 0; k < board.memberCount(); k++) {
      told += board.told(board.member(k)) ? 1 : 0;
    }
    informed = 2 * told > board.memberCount();
    for (int k = 0; k < board.liveCount(); k++) {
      int i = board.live(k);
      if (board.told(i) && board.matched(i) > hubTokens) {
        holders.offer(i, board.matched(i), HOLDERS);
      }
    }
    if (fork != Hub.NONE) {
      seedHub(board, keys, fork);
    }
  }

  /** Finds out who should hold the hub itself. */
  private void seedHub(Board board, ContentKeys keys, int fork) {
    int workers = board.memberCount();
    int wanted = Popularity.replicas(path.count(fork), path.total(), workers);
    hubKey = HomeKey.ofHub(keys, hub);
    seeded = true;
    seedShare = wanted > MOST_REPLICAS ? (double) wanted / workers : 0;
    if (seedShare == 0) {
      seeds.rank(board.candidates(), hubKey, board.members(), workers, wanted);
    }
  }

  private void order(Board board, HomingSettings settings) {
    atHome = false;
    for (int k = 0; k < board.liveCount() && !atHome; k++) {
      atHome = board.live(k) == number;
    }
    if (crowded()) {
      double share = (double) replicas / board.memberCount();
      ranking.sample(board, key, CROWD, share, MOST_REPLICAS);
      if (atHome) {
        ranking.offer(number, Long.MAX_VALUE, MOST_REPLICAS);
      }
      if (ranking.size() > 0) {
        return;
      }
    }
    int want = settings.ranks() + Math.min(replicas, MOST_REPLICAS) - 1;
    ranking.rank(
        board.candidates(),
        key,
        board.live(),
        board.liveCount(),
        Math.min(Ranking.MOST, informed ? want + MORE_RANKS : want));
  }

  private boolean crowded() {
    return replicas > MOST_REPLICAS;
  }

  /** Tokens up to the hub; 0 where the prompt has none. */
  int hubTokens() {
    return hubTokens;
  }

  /** How likely a worker holds these. */
  double presence() {
    return presence;
  }

  /** What the order of workers hangs on. */
  long key() {
    return key;
  }

  /** How many workers it deserves. */
  int replicas() {
    return replicas;
  }

  /** Tokens that a replica counts as holding, so that it comes to hold them. */
  int seedTokens() {
    return seedTokens;
  }

  /** The candidate that is its home, whether or not it is in play. */
  int number() {
    return number;
  }

  /** Whether its home is in play. */
  boolean atHome() {
    return atHome;
  }

  /** Whether most ranks report their caches. */
  boolean informed() {
    return informed;
  }

  /** How many candidates come into question. */
  int size() {
    int more = 0;
    for (int k = 0; k < holders.size(); k++) {
      more += ranking.indexOf(holders.get(k)) < 0 ? 1 : 0;
    }
    return ranking.size() + more;
  }

  /** One of them: first those in the key's order, then holders. */
  int get(int k) {
    if (k < ranking.size()) {
      return ranking.get(k);
    }
    int left = k - ranking.size();
    for (int h = 0; h < holders.size(); h++) {
      if (ranking.indexOf(holders.get(h)) < 0 && left-- == 0) {
        return holders.get(h);
      }
    }
    throw new IndexOutOfBoundsException(k);
  }

  /** How many of them are in the key's order. */
  int ranked() {
    return ranking.size();
  }

  /** A candidate's place in the key's order, 0 for the home; {@link #FAR} where it has none. */
  int rank(int candidate) {
    if (candidate == number) {
      return 0;
    }
    int place = ranking.indexOf(candidate);
    return place < 0 ? FAR : atHome ? place : place + 1;
  }

  /** Whether a candidate is one of the replicas that the prompt deserves. */
  boolean replica(int candidate) {
    return replicas > 1
        && (crowded() ? ranking.indexOf(candidate) >= 0 : rank(candidate) < replicas);
  }

  /** Whether a candidate that reports its cache should hold the hub, so that it comes to. */
  boolean seeded(Board board, int candidate) {
    if (!seeded) {
      return false;
    }
    return seedShare == 0
        ? seeds.indexOf(candidate) >= 0
        : Ranking.within(
            StableHash.pair(hubKey, board.candidates().stableHash(candidate)), seedShare);
  }
}
