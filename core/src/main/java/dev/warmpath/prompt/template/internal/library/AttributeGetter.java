package dev.warmpath.prompt.template.internal.library;

import dev.warmpath.prompt.template.internal.python.Compare;
import dev.warmpath.prompt.template.internal.python.Markup;
import dev.warmpath.prompt.template.internal.python.Numbers;
import dev.warmpath.prompt.template.internal.python.Py;
import dev.warmpath.prompt.template.internal.python.PyNone;
import dev.warmpath.prompt.template.internal.python.Rendering;
import dev.warmpath.prompt.template.internal.python.Text;
import dev.warmpath.prompt.template.internal.python.Undefined;
import java.util.ArrayList;
import java.util.List;

/** Reads an attribute that is named by a path with dots, as filters take it. */
final class AttributeGetter {
  private final Rendering r;
  private final List<Object> path;
  private final boolean ignoreCase;
  private final Object whenUndefined;

  private AttributeGetter(Rendering r, Object attribute, boolean ignoreCase, Object whenUndefined) {
    this.r = r;
    this.path = path(attribute);
    this.ignoreCase = ignoreCase;
    this.whenUndefined = whenUndefined;
  }

  /** A getter that gives the attribute as it is; a default of None is none. */
  static AttributeGetter of(Rendering r, Object attribute, Object whenUndefined) {
    return new AttributeGetter(r, attribute, false, whenUndefined);
  }

  /** A getter for comparisons, which lowers strings where case does not matter. */
  static AttributeGetter of(
      Rendering r, Object attribute, boolean ignoreCase, Object whenUndefined) {
    return new AttributeGetter(r, attribute, ignoreCase, whenUndefined);
  }

  /** A key of several attributes with commas between them. */
  static Compare.Key several(Rendering r, Object attributes, boolean ignoreCase) {
    List<AttributeGetter> getters = new ArrayList<>();
    if (Py.isString(attributes)) {
      for (String attribute : Py.text(attributes).split(",", -1)) {
        getters.add(new AttributeGetter(r, attribute, ignoreCase, PyNone.NONE));
      }
    } else {
      getters.add(new AttributeGetter(r, attributes, ignoreCase, PyNone.NONE));
    }
    return value -> {
      List<Object> key = new ArrayList<>(getters.size());
      getters.forEach(getter -> key.add(getter.get(value)));
      return key;
    };
  }

  private static List<Object> path(Object attribute) {
    if (attribute == PyNone.NONE) {
      return List.of();
    }
    if (!Py.isString(attribute)) {
      return List.of(attribute);
    }
    List<Object> path = new ArrayList<>();
    for (String part : Py.text(attribute).split("\\.", -1)) {
      boolean number = !part.isEmpty() && part.codePoints().allMatch(Text::isDigit);
      path.add(number ? Numbers.parseInt(part, 10, part) : part);
    }
    return path;
  }

  Object get(Object value) {
    Object item = value;
    for (Object part : path) {
      item = Access.item(r, item, part);
      if (item instanceof Undefined && whenUndefined != PyNone.NONE) {
        item = whenUndefined;
      }
    }
    return ignoreCase ? ignoreCase(item) : item;
  }

  /** Strings in lower case, others as they are. */
  static Object ignoreCase(Object value) {
    return value instanceof String s
        ? Text.lower(s)
        : value instanceof Markup m ? new Markup(Text.lower(m.text())) : value;
  }
}
