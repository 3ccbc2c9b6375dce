package dev.warmpath.prompt.template.internal.compile;

import dev.warmpath.prompt.template.internal.python.PyError;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The names of one scope: Jinja2's {@code idtracking.Symbols}. */
final class Symbols {
  private final int level;
  private final @Nullable Symbols parent;
  private final Map<String, Ident> refs;
  private final Map<Ident, Load> loads;
  private final Set<String> stores;

  Symbols(@Nullable Symbols parent, int level) {
    this(parent, level, new LinkedHashMap<>(), new LinkedHashMap<>(), new LinkedHashSet<>());
  }

  private Symbols(
      @Nullable Symbols parent,
      int level,
      Map<String, Ident> refs,
      Map<Ident, Load> loads,
      Set<String> stores) {
    this.parent = parent;
    this.level = level;
    this.refs = refs;
    this.loads = loads;
    this.stores = stores;
  }

  Symbols copy() {
    return new Symbols(
        parent,
        level,
        new LinkedHashMap<>(refs),
        new LinkedHashMap<>(loads),
        new LinkedHashSet<>(stores));
  }

  Symbols inner() {
    return new Symbols(this, level + 1);
  }

  int level() {
    return level;
  }

  Map<Ident, Load> loads() {
    return loads;
  }

  private Ident define(String name, Load load) {
    Ident ident = new Ident(level, name);
    refs.put(name, ident);
    loads.put(ident, load);
    return ident;
  }

  @Nullable Load findLoad(Ident ident) {
    Load load = loads.get(ident);
    return load != null || parent == null ? load : parent.findLoad(ident);
  }

  private @Nullable Ident findRef(String name) {
    Ident ident = refs.get(name);
    return ident != null || parent == null ? ident : parent.findRef(name);
  }

  /** The variable of a name that the scope's analysis has seen. */
  Ident ref(String name) {
    Ident ident = findRef(name);
    if (ident == null) {
      throw PyError.of(
          "AssertionError",
          "Tried to resolve a name to a reference that was unknown to the frame ('" + name + "')");
    }
    return ident;
  }

  void store(String name) {
    stores.add(name);
    if (refs.containsKey(name)) {
      return;
    }
    Ident outer = parent == null ? null : parent.findRef(name);
    define(name, outer == null ? new Load.Undefined() : new Load.Alias(outer));
  }

  Ident declareParameter(String name) {
    stores.add(name);
    return define(name, new Load.Parameter());
  }

  void load(String name) {
    if (findRef(name) == null) {
      define(name, new Load.Resolve(name));
    }
  }

  /** Takes in what the branches of an {@code if} have seen, each in a copy of this. */
  void mergeBranches(List<Symbols> branches) {
    Set<String> stored = new LinkedHashSet<>();
    branches.forEach(branch -> stored.addAll(branch.stores));
    stored.removeAll(new HashSet<>(stores));
    for (Symbols branch : branches) {
      refs.putAll(branch.refs);
      loads.putAll(branch.loads);
      stores.addAll(branch.stores);
    }
    for (String name : stored) {
      Ident outer = parent == null ? null : parent.findRef(name);
      loads.put(ref(name), outer == null ? new Load.Resolve(name) : new Load.Alias(outer));
    }
  }

  /** Every name that this scope or one around it stores, and its variable as seen from here. */
  Map<String, Ident> allStores() {
    Map<String, Ident> all = new LinkedHashMap<>();
    for (Symbols scope = this; scope != null; scope = scope.parent) {
      for (String name : new TreeSet<>(scope.stores)) {
        all.putIfAbsent(name, ref(name));
      }
    }
    return all;
  }
}
