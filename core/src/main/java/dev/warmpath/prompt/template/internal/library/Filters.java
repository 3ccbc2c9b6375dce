package dev.warmpath.prompt.template.internal.library;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** All filters by name. */
public final class Filters {
  private static final Map<String, Function> ALL = new HashMap<>();

  static {
    StringFilters.define(ALL);
    SequenceFilters.define(ALL);
    ValueFilters.define(ALL);
    HtmlFilters.define(ALL);
  }

  private Filters() {}

  /** The filter of a name, or null. */
  public static @Nullable Function get(String name) {
    return ALL.get(name);
  }
}
