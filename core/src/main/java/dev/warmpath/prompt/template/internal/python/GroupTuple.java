package dev.warmpath.prompt.template.internal.python;

import java.util.List;

/** A pair that {@code groupby} gives: a tuple with names for its two elements. */
public final class GroupTuple extends PyTuple {
  /** A group. */
  public GroupTuple(Object grouper, List<Object> list) {
    super(grouper, list);
  }
}
