package dev.warmpath.index;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What {@link ByteRadixTree} promises, said in the simplest way: one record for each holder and
 * each prefix of each prompt, and no budget. Where prompts differ in whole blocks only, records for
 * the prefixes of whole blocks do.
 */
final class NaiveIndex {
  private record Stamp(long tick, long received) {}

  private record Prefix(PrefixNamespace namespace, String text) {}

  private static final class Entry {
    Stamp confirmed;
    Stamp lastUse;
    final Set<Object> claims = new HashSet<>();
  }

  private static final class Holder {
    long id;
    boolean live;
    long received;
    long capacity;
    final Map<Prefix, Entry> entries = new HashMap<>();
  }

  /** What a dispatch leaves behind for its settlement. */
  static final class Claim {
    PrefixNamespace namespace;
    String prompt;
    Holder holder;
    Map<Prefix, Entry> entries;
    long received;
    int life;
  }

  private final long longestAge;
  private final int blockLength;
  private final Map<Integer, Holder> holders = new HashMap<>();
  private final Map<Holder, Integer> lives = new HashMap<>();
  private long tick;

  NaiveIndex(long longestAgeTicks, int blockLength) {
    longestAge = longestAgeTicks;
    this.blockLength = blockLength;
  }

  void advance(long ticks) {
    tick += ticks;
  }

  void insert(PrefixNamespace namespace, String prompt, long holderId) {
    Holder holder = admit(holderId);
    if (holder != null) {
      use(holder, namespace, prompt, null);
    }
  }

  Claim dispatch(PrefixNamespace namespace, String prompt, long holderId, long tokens) {
    Claim claim = new Claim();
    Holder holder = admit(holderId);
    if (holder != null) {
      claim.namespace = namespace;
      claim.prompt = prompt;
      claim.holder = holder;
      claim.life = lives.getOrDefault(holder, 0);
      int missing = prompt.length() - matched(namespace, prompt, holderId);
      claim.received = tokens * missing / prompt.length();
      Stamp now = now(holder);
      for (Prefix prefix : prefixes(namespace, prompt)) {
        Entry entry = holder.entries.get(prefix);
        if (entry == null || expired(entry)) {
          entry = new Entry();
          holder.entries.put(prefix, entry);
        }
        entry.lastUse = now;
        entry.claims.add(claim);
      }
    }
    return claim;
  }

  void confirm(Claim claim) {
    if (current(claim)) {
      claim.holder.received += claim.received;
      use(claim.holder, claim.namespace, claim.prompt, claim);
    }
  }

  void withdraw(Claim claim) {
    if (current(claim)) {
      for (Prefix prefix : prefixes(claim.namespace, claim.prompt)) {
        Entry entry = claim.holder.entries.get(prefix);
        if (entry != null && entry.claims.remove(claim) && entry.claims.isEmpty()) {
          if (entry.confirmed == null) {
            claim.holder.entries.remove(prefix);
          } else {
            entry.lastUse = entry.confirmed;
          }
        }
      }
    }
  }

  void received(long holderId, long tokens) {
    Holder holder = admit(holderId);
    if (holder != null) {
      holder.received += tokens;
    }
  }

  void capacity(long holderId, long tokens) {
    Holder holder = admit(holderId);
    if (holder != null) {
      holder.capacity = tokens;
    }
  }

  void drop(long holderId) {
    Holder holder = holders.computeIfAbsent(HolderIds.slot(holderId), slot -> new Holder());
    if (lives.get(holder) == null || holderId >= holder.id) {
      begin(holder, holderId);
      holder.live = false;
    }
  }

  void clear(long holderId) {
    Holder holder = holders.get(HolderIds.slot(holderId));
    if (holder != null && holder.live && holder.id == holderId) {
      begin(holder, holderId);
    }
  }

  int matched(PrefixNamespace namespace, String prompt, long holderId) {
    Holder holder = holders.get(HolderIds.slot(holderId));
    if (holder == null || !holder.live || holder.id != holderId) {
      return 0;
    }
    int longest = 0;
    for (Prefix prefix : prefixes(namespace, prompt)) {
      Entry entry = holder.entries.get(prefix);
      if (entry != null && survival(holder, entry) > 0) {
        longest = prefix.text.length();
      }
    }
    return longest;
  }

  double expected(PrefixNamespace namespace, String prompt, long holderId) {
    int longest = matched(namespace, prompt, holderId);
    double expected = 0;
    for (Prefix prefix : prefixes(namespace, prompt.substring(0, longest))) {
      Holder holder = holders.get(HolderIds.slot(holderId));
      expected += blockLength * survival(holder, holder.entries.get(prefix));
    }
    return expected;
  }

  private double survival(Holder holder, Entry entry) {
    if (expired(entry)) {
      return 0;
    }
    if (holder.capacity == 0) {
      return 1;
    }
    double since = (now(holder).received - entry.lastUse.received) * 64.0;
    return Math.max(0, Math.min(1, (holder.capacity - since) / (holder.capacity / 4.0)));
  }

  private void use(Holder holder, PrefixNamespace namespace, String prompt, Claim settled) {
    Stamp now = now(holder);
    for (Prefix prefix : prefixes(namespace, prompt)) {
      Entry entry = holder.entries.get(prefix);
      if (entry == null || expired(entry)) {
        entry = new Entry();
        holder.entries.put(prefix, entry);
      }
      entry.confirmed = now;
      entry.lastUse = now;
      entry.claims.remove(settled);
    }
  }

  private boolean current(Claim claim) {
    return claim.holder != null
        && claim.holder.live
        && lives.getOrDefault(claim.holder, 0) == claim.life;
  }

  private boolean expired(Entry entry) {
    return tick - entry.lastUse.tick > longestAge;
  }

  private Stamp now(Holder holder) {
    return new Stamp(tick, holder.received / 64);
  }

  private Holder admit(long holderId) {
    Holder holder = holders.computeIfAbsent(HolderIds.slot(holderId), slot -> new Holder());
    if (lives.get(holder) == null || holderId > holder.id) {
      begin(holder, holderId);
    }
    return holder.live && holder.id == holderId ? holder : null;
  }

  private void begin(Holder holder, long holderId) {
    lives.merge(holder, 1, Integer::sum);
    if (holder.id != holderId) {
      holder.received = 0;
      holder.capacity = 0;
    }
    holder.id = holderId;
    holder.live = true;
    holder.entries.clear();
  }

  private List<Prefix> prefixes(PrefixNamespace namespace, String prompt) {
    List<Prefix> prefixes = new ArrayList<>();
    for (int end = blockLength; end <= prompt.length(); end += blockLength) {
      prefixes.add(new Prefix(namespace, prompt.substring(0, end)));
    }
    return prefixes;
  }
}
