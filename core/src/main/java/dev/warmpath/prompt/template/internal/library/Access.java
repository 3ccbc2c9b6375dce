package dev.warmpath.prompt.template.internal.library;

import dev.warmpath.prompt.template.internal.python.BoundMethod;
import dev.warmpath.prompt.template.internal.python.Dicts;
import dev.warmpath.prompt.template.internal.python.GroupTuple;
import dev.warmpath.prompt.template.internal.python.Markup;
import dev.warmpath.prompt.template.internal.python.Missing;
import dev.warmpath.prompt.template.internal.python.Namespace;
import dev.warmpath.prompt.template.internal.python.Numbers;
import dev.warmpath.prompt.template.internal.python.Py;
import dev.warmpath.prompt.template.internal.python.PyNone;
import dev.warmpath.prompt.template.internal.python.PyObject;
import dev.warmpath.prompt.template.internal.python.PyTuple;
import dev.warmpath.prompt.template.internal.python.Rendering;
import dev.warmpath.prompt.template.internal.python.Undefined;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How templates reach into values: Jinja2's {@code getattr} and {@code getitem} behind the
 * immutable sandbox.
 */
public final class Access {
  private static final Set<String> LIST_MUTATORS =
      Set.of("append", "clear", "pop", "reverse", "insert", "sort", "extend", "remove");
  private static final Set<String> DICT_MUTATORS =
      Set.of("clear", "pop", "popitem", "setdefault", "update");

  private Access() {}

  /** {@code object.name} for a name known beforehand. */
  public static final class Attribute {
    private final String name;
    private final BoundMethod.@Nullable Method ofString;
    private final BoundMethod.@Nullable Method ofList;
    private final BoundMethod.@Nullable Method ofDict;
    private final boolean plainKey;

    /** The name. */
    public Attribute(String name) {
      this.name = name;
      ofString = StringMethods.get(name);
      ofList = LIST_MUTATORS.contains(name) ? null : ListMethods.ofList(name);
      ofDict = DICT_MUTATORS.contains(name) ? null : DictMethods.get(name);
      plainKey = !name.startsWith("_") && DictMethods.get(name) == null;
    }

    /**
     * The method of that name which a plain string, list or dict has and may be called; null for
     * others.
     */
    public BoundMethod.@Nullable Method builtInMethod(Object self) {
      if (self instanceof String) {
        return ofString;
      }
      if (self instanceof Map) {
        return ofDict;
      }
      return self instanceof List && !(self instanceof PyTuple) ? ofList : null;
    }

    /** Reads it. */
    public Object of(Rendering r, Object object) {
      if (plainKey && object instanceof Map<?, ?> map) {
        Object value = Dicts.get(map, name);
        return value == Missing.MISSING ? Undefined.member(object, name) : value;
      }
      return attribute(r, object, name);
    }
  }

  /** {@code object.name}: an attribute, else an item, else undefined. */
  static Object attribute(Rendering r, Object object, String name) {
    Object value = find(r, object, name);
    if (value != Missing.MISSING) {
      return isUnsafe(object, name) ? Undefined.unsafe(object, name) : value;
    }
    Object item = Py.item(r, object, name);
    return item == Missing.MISSING ? Undefined.member(object, name) : item;
  }

  /** {@code object[key]}: an item, else an attribute, else undefined. */
  public static Object item(Rendering r, Object object, Object key) {
    Object item = Py.item(r, object, key);
    if (item != Missing.MISSING) {
      return item;
    }
    if (Py.isString(key)) {
      String name = Py.text(key);
      Object value = find(r, object, name);
      if (value != Missing.MISSING) {
        return isUnsafe(object, name) ? Undefined.unsafe(object, name) : value;
      }
    }
    return Undefined.member(object, key);
  }

  private static boolean isUnsafe(Object object, String name) {
    return name.startsWith("_")
        || (object instanceof Map && DICT_MUTATORS.contains(name))
        || (object instanceof List && !(object instanceof PyTuple) && LIST_MUTATORS.contains(name));
  }

  /**
   * The attribute itself, or {@link Missing#MISSING} where Python raises {@code AttributeError}.
   */
  static Object find(Rendering r, Object object, String name) {
    if (name.startsWith("__") && name.endsWith("__")) {
      // whatever it is, the sandbox keeps it away: that it exists is all that matters
      return Dunders.has(object, name) ? PyNone.NONE : Missing.MISSING;
    }
    if (object instanceof Undefined undefined) {
      if (Dunders.UNDEFINED_SLOTS.contains(name)) {
        return PyNone.NONE;
      }
      throw undefined.error();
    }
    if (object instanceof GroupTuple group) {
      switch (name) {
        case "grouper" -> {
          return group.get(0);
        }
        case "list" -> {
          return group.get(1);
        }
        default -> {}
      }
    }
    if (Numbers.isNumber(object)) {
      return NumberMethods.attribute(object, name);
    }
    if (object instanceof PyObject o) {
      Object value = o.attribute(r, name);
      if (value != Missing.MISSING || object instanceof Namespace) {
        return value;
      }
    }
    BoundMethod.Method method = method(object, name);
    return method == null ? Missing.MISSING : new BoundMethod(object, name, method);
  }

  private static BoundMethod.@Nullable Method method(Object object, String name) {
    if (Py.isString(object)) {
      return object instanceof Markup ? MarkupMethods.get(name) : StringMethods.get(name);
    }
    if (object instanceof Map) {
      return DictMethods.get(name);
    }
    if (object instanceof PyTuple) {
      return ListMethods.ofTuple(name);
    }
    if (object instanceof List) {
      return ListMethods.ofList(name);
    }
    return object instanceof PyObject o ? OtherMethods.get(o, name) : null;
  }
}
