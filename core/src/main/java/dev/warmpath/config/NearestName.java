package dev.warmpath.config;

import java.util.Collection;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Finds what somebody meant who mistyped a key. */
final class NearestName {
  private NearestName() {}

  /**
   * The known name with the fewest changed letters, by the whole path or by its last part; null
   * where none is near.
   */
  static @Nullable String of(String name, Collection<String> known) {
    String best = null;
    int fewest = Integer.MAX_VALUE;
    for (String each : known) {
      int whole = distance(plain(name), plain(each));
      int last = distance(plain(lastOf(name)), plain(lastOf(each)));
      int distance = Math.min(2 * whole, 2 * last + 1);
      int length = whole <= last ? each.length() : lastOf(each).length();
      if (distance < fewest && distance <= Math.max(2, length)) {
        fewest = distance;
        best = each;
      }
    }
    return best;
  }

  private static String lastOf(String name) {
    return name.substring(name.lastIndexOf('.') + 1);
  }

  private static String plain(String name) {
    return name.toLowerCase(Locale.ROOT).replace("_", "").replace("-", "");
  }

  /** Letters added, left out, changed or swapped: Damerau's distance, in its restricted form. */
  private static int distance(String a, String b) {
    int[][] cost = new int[a.length() + 1][b.length() + 1];
    for (int i = 0; i <= a.length(); i++) {
      for (int j = 0; j <= b.length(); j++) {
        if (i == 0 || j == 0) {
          cost[i][j] = i + j;
          continue;
        }
        int changed = cost[i - 1][j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        int least = Math.min(changed, Math.min(cost[i - 1][j], cost[i][j - 1]) + 1);
        if (i > 1
            && j > 1
            && a.charAt(i - 1) == b.charAt(j - 2)
            && a.charAt(i - 2) == b.charAt(j - 1)) {
          least = Math.min(least, cost[i - 2][j - 2] + 1);
        }
        cost[i][j] = least;
      }
    }
    return cost[a.length()][b.length()];
  }
}
