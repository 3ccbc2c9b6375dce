package dev.warmpath.prompt.template.internal.exec;

import dev.warmpath.prompt.template.internal.library.Globals;
import dev.warmpath.prompt.template.internal.python.Dicts;
import dev.warmpath.prompt.template.internal.python.Missing;
import dev.warmpath.prompt.template.internal.python.Py;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/** The variables a template was given, and those that its top level sets for its blocks to see. */
public final class Context {
  private final Map<String, ?> given;
  private final Map<String, BlockCode> blocks;
  private final Map<String, Object> set = new HashMap<>(0);

  /** Holds variables and blocks, without copying. */
  public Context(Map<String, ?> given, Map<String, BlockCode> blocks) {
    this.given = given;
    this.blocks = blocks;
  }

  /** The value of a variable, or {@link Missing#MISSING}. */
  Object resolve(String name) {
    Object value = set.get(name);
    if (value != null) {
      return value;
    }
    value = Dicts.get(given, name);
    return value == Missing.MISSING ? Globals.get(name) : value;
  }

  /** Sets a variable of the top level. */
  void export(String name, Object value) {
    set.put(name, value);
  }

  BlockCode block(String name) {
    return Objects.requireNonNull(blocks.get(name), name);
  }

  boolean hasBlock(String name) {
    return blocks.containsKey(name);
  }

  /** A context with the local variables of a scoped block as well. */
  Context derived(Map<String, Object> locals) {
    Map<String, Object> all = new HashMap<>();
    given.forEach((name, value) -> all.put(name, Py.in(value)));
    all.putAll(set);
    all.putAll(locals);
    return new Context(all, blocks);
  }
}
