package dev.warmpath.index;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What {@link BlockIndex} promises, said in the simplest way: one record for each holder and each
 * prefix of each text, and no budget.
 */
final class NaiveBlocks {
  private static final class Entry {
    final Set<Tier> tiers = new HashSet<>();
    boolean claimed;
    long lastUse;

    boolean inHbm() {
      return claimed || tiers.contains(Tier.HBM);
    }

    boolean gone() {
      return !claimed && tiers.isEmpty();
    }
  }

  private static final class Holder {
    long id;
    boolean live;
    int capacity;
    Map<String, Entry> entries = new HashMap<>();
    List<Claim> claims = new ArrayList<>();
  }

  /** What a dispatch leaves behind for its settlement. */
  static final class Claim {
    final String text;
    final Holder holder;
    final Map<String, Entry> entries;

    Claim(String text, Holder holder) {
      this.text = text;
      this.holder = holder;
      this.entries = holder == null ? null : holder.entries;
    }

    boolean current() {
      return holder != null && holder.entries == entries;
    }
  }

  private final Map<Integer, Holder> holders = new HashMap<>();
  private long uses;

  void stored(String text, int from, int to, long holderId, Tier tier) {
    Holder holder = admit(holderId);
    if (holder != null && from < to) {
      use(holder, text.substring(0, to));
      for (int end = from + 1; end <= to; end++) {
        Entry entry = entry(holder, text.substring(0, end));
        entry.tiers.add(tier);
        entry.claimed &= !entry.tiers.contains(Tier.HBM);
      }
      limit(holder);
    }
  }

  void removed(String text, int block, long holderId, Tier tier) {
    Holder holder = living(holderId);
    if (holder != null) {
      String prefix = text.substring(0, block + 1);
      Entry entry = holder.entries.get(prefix);
      if (entry != null) {
        entry.tiers.remove(tier);
        entry.claimed &= tier != Tier.HBM;
        forget(holder, prefix, entry);
      }
    }
  }

  Claim dispatch(String text, long holderId) {
    Holder holder = admit(holderId);
    if (holder == null) {
      return new Claim(text, null);
    }
    Claim claim = new Claim(text, holder);
    use(holder, text);
    for (int end = 1; end <= text.length(); end++) {
      Entry entry = entry(holder, text.substring(0, end));
      entry.claimed = !entry.tiers.contains(Tier.HBM);
    }
    holder.claims.add(claim);
    limit(holder);
    return claim;
  }

  void confirm(Claim claim) {
    if (claim.current()) {
      claim.holder.claims.remove(claim);
      stored(claim.text, 0, claim.text.length(), claim.holder.id, Tier.HBM);
    }
  }

  void withdraw(Claim claim) {
    if (!claim.current()) {
      return;
    }
    claim.holder.claims.remove(claim);
    for (int end = 1; end <= claim.text.length(); end++) {
      String prefix = claim.text.substring(0, end);
      Entry entry = claim.holder.entries.get(prefix);
      boolean others =
          claim.holder.claims.stream().anyMatch(other -> other.text.startsWith(prefix));
      if (entry != null && !others) {
        entry.claimed = false;
        forget(claim.holder, prefix, entry);
      }
    }
  }

  void capacity(long holderId, int blocks) {
    Holder holder = admit(holderId);
    if (holder != null) {
      holder.capacity = blocks;
      limit(holder);
    }
  }

  void drop(long holderId) {
    Holder holder = holders.computeIfAbsent(HolderIds.slot(holderId), slot -> new Holder());
    if (holderId >= holder.id) {
      begin(holder, holderId);
      holder.capacity = 0;
      holder.live = false;
    }
  }

  void clear(long holderId) {
    Holder holder = living(holderId);
    if (holder != null) {
      begin(holder, holderId);
    }
  }

  /** The longest run of leading blocks in a tier or a better one. */
  int run(String text, long holderId, Tier worst) {
    Holder holder = living(holderId);
    int run = 0;
    while (holder != null && run < text.length()) {
      Entry entry = holder.entries.get(text.substring(0, run + 1));
      if (entry == null || best(entry).compareTo(worst) > 0) {
        break;
      }
      run++;
    }
    return run;
  }

  int runIn(String text, long holderId, Tier tier) {
    int count = 0;
    for (int end = 1; end <= run(text, holderId, Tier.SSD); end++) {
      Entry entry = living(holderId).entries.get(text.substring(0, end));
      count += best(entry) == tier ? 1 : 0;
    }
    return count;
  }

  private static Tier best(Entry entry) {
    return entry.inHbm() ? Tier.HBM : entry.tiers.stream().min(Comparator.naturalOrder()).get();
  }

  private void use(Holder holder, String text) {
    uses++;
    for (int end = 1; end <= text.length(); end++) {
      Entry entry = holder.entries.get(text.substring(0, end));
      if (entry != null) {
        entry.lastUse = uses;
      }
    }
  }

  private Entry entry(Holder holder, String prefix) {
    Entry entry = holder.entries.computeIfAbsent(prefix, p -> new Entry());
    entry.lastUse = uses;
    return entry;
  }

  private static void forget(Holder holder, String prefix, Entry entry) {
    if (entry.gone()) {
      holder.entries.remove(prefix);
    }
  }

  private static void limit(Holder holder) {
    while (holder.capacity > 0) {
      List<Map.Entry<String, Entry>> inHbm =
          holder.entries.entrySet().stream().filter(e -> e.getValue().inHbm()).toList();
      if (inHbm.size() <= holder.capacity) {
        return;
      }
      Optional<Map.Entry<String, Entry>> oldest =
          inHbm.stream()
              .min(
                  Comparator.<Map.Entry<String, Entry>>comparingLong(e -> e.getValue().lastUse)
                      .thenComparingInt(e -> -e.getKey().length()));
      Entry entry = oldest.orElseThrow().getValue();
      entry.claimed = false;
      entry.tiers.remove(Tier.HBM);
      forget(holder, oldest.orElseThrow().getKey(), entry);
    }
  }

  private Holder living(long holderId) {
    Holder holder = holders.get(HolderIds.slot(holderId));
    return holder != null && holder.live && holder.id == holderId ? holder : null;
  }

  private Holder admit(long holderId) {
    Holder holder = holders.computeIfAbsent(HolderIds.slot(holderId), slot -> new Holder());
    if (holderId > holder.id) {
      begin(holder, holderId);
      holder.capacity = 0;
      holder.live = true;
    }
    return living(holderId);
  }

  private static void begin(Holder holder, long holderId) {
    holder.id = holderId;
    holder.entries = new HashMap<>();
    holder.claims = new ArrayList<>();
  }
}
