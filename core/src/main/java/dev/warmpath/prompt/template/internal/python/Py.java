package dev.warmpath.prompt.template.internal.python;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Python's protocols: truth, text, iteration, length, items. */
public final class Py {
  private Py() {}

  /** A value as a foreign container holds it. */
  public static Object in(@Nullable Object o) {
    return o == null ? PyNone.NONE : o;
  }

  /** Python's name of the value's type. */
  public static String typeName(Object o) {
    if (o instanceof String) {
      return "str";
    }
    if (o instanceof Boolean) {
      return "bool";
    }
    if (Numbers.isFloat(o)) {
      return "float";
    }
    if (Numbers.isInt(o)) {
      return "int";
    }
    if (o instanceof Map) {
      return "dict";
    }
    if (o instanceof PyTuple) {
      return o instanceof GroupTuple ? "_GroupTuple" : "tuple";
    }
    if (o instanceof List) {
      return "list";
    }
    if (o instanceof Markup) {
      return "Markup";
    }
    return o instanceof PyObject p ? p.typeName() : "object";
  }

  /** The type's name with its module, where the module is not {@code builtins}. */
  static String qualifiedTypeName(Object o) {
    if (o instanceof PyObject p) {
      return p.qualifiedTypeName();
    }
    if (o instanceof Markup) {
      return "markupsafe.Markup";
    }
    return o instanceof GroupTuple ? "jinja2.filters._GroupTuple" : typeName(o);
  }

  /** Python's {@code bool(value)}. */
  public static boolean isTrue(Rendering r, Object o) {
    if (o instanceof Boolean b) {
      return b;
    }
    if (o instanceof String s) {
      return !s.isEmpty();
    }
    if (o instanceof PyObject p) {
      return p.isTrue(r);
    }
    if (o instanceof Map<?, ?> m) {
      return !m.isEmpty();
    }
    if (o instanceof List<?> l) {
      return !l.isEmpty();
    }
    if (o instanceof Markup m) {
      return !m.text().isEmpty();
    }
    return !(o instanceof Number) || Numbers.isTrue(o);
  }

  /** Whether it is a {@code str} or a {@code Markup}. */
  public static boolean isString(Object o) {
    return o instanceof String || o instanceof Markup;
  }

  /** The text of what {@link #isString}. */
  public static String text(Object o) {
    return o instanceof Markup m ? m.text() : (String) o;
  }

  /** Python's {@code str(value)}. */
  public static String str(Rendering r, Object o) {
    if (o instanceof String s) {
      return s;
    }
    if (o instanceof Markup m) {
      return m.text();
    }
    if (o instanceof Undefined) {
      return "";
    }
    return Repr.of(r, o);
  }

  /** Appends {@code str(value)}. */
  public static void appendStr(Rendering r, StringBuilder out, Object o) {
    if (o instanceof String s) {
      out.append(s);
    } else if (o instanceof Markup m) {
      out.append(m.text());
    } else if (o instanceof Boolean b) {
      out.append(b ? "True" : "False");
    } else if (o instanceof Number n) {
      out.append(Numbers.text(n));
    } else if (!(o instanceof Undefined)) {
      new Repr(r, out).value(o);
    }
  }

  /** Python's {@code iter(value)}; a {@code TypeError} where there is none. */
  public static Iterator<Object> iterate(Rendering r, Object o) {
    if (o instanceof List<?> list) {
      return iterate(list);
    }
    if (o instanceof PyIterator it) {
      return it;
    }
    if (o instanceof Map<?, ?> map) {
      return new DictView(map, DictView.Kind.KEYS).iterator();
    }
    if (isString(o)) {
      return characters(text(o));
    }
    if (o instanceof PyRange range) {
      return range.iterator();
    }
    if (o instanceof DictView view) {
      return view.iterator();
    }
    if (o instanceof Undefined) {
      return Collections.emptyIterator();
    }
    if (o instanceof PyBytes bytes) {
      List<Object> values = new ArrayList<>();
      for (byte b : bytes.bytes()) {
        values.add((long) (b & 0xff));
      }
      return values.iterator();
    }
    if (o instanceof PyIterable iterable) {
      return iterable.iterate(r);
    }
    throw PyError.type("'" + typeName(o) + "' object is not iterable");
  }

  /** Whether {@link #iterate} works. */
  public static boolean isIterable(Object o) {
    return o instanceof List
        || o instanceof Map
        || isString(o)
        || o instanceof PyIterator
        || o instanceof PyRange
        || o instanceof DictView
        || o instanceof Undefined
        || o instanceof PyBytes
        || o instanceof PyIterable;
  }

  private static Iterator<Object> iterate(List<?> list) {
    Iterator<?> it = list.iterator();
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return it.hasNext();
      }

      @Override
      public Object next() {
        return in(it.next());
      }
    };
  }

  private static Iterator<Object> characters(String s) {
    return new LazyIterator() {
      private int at;

      @Override
      protected Object advance() {
        if (at >= s.length()) {
          return Missing.MISSING;
        }
        int from = at;
        at = s.offsetByCodePoints(from, 1);
        return s.substring(from, at);
      }
    };
  }

  /** Python's {@code list(value)}: a new list. */
  public static List<Object> list(Rendering r, Object o) {
    List<Object> list = o instanceof List<?> l ? new ArrayList<>(l.size()) : new ArrayList<>();
    for (Iterator<Object> it = iterate(r, o); it.hasNext(); ) {
      r.charge();
      list.add(it.next());
    }
    return list;
  }

  /** Python's {@code len(value)}; a {@code TypeError} where there is none. */
  public static int length(Rendering r, Object o) {
    int length = lengthOrNegative(r, o);
    if (length < 0) {
      throw PyError.type("object of type '" + typeName(o) + "' has no len()");
    }
    return length;
  }

  /** Python's {@code len(value)}, or -1 where there is none. */
  public static int lengthOrNegative(Rendering r, Object o) {
    if (isString(o)) {
      return Text.length(text(o));
    }
    if (o instanceof List<?> list) {
      return list.size();
    }
    if (o instanceof Map<?, ?> map) {
      return map.size();
    }
    if (o instanceof PyRange range) {
      return range.length();
    }
    if (o instanceof DictView view) {
      return view.map().size();
    }
    if (o instanceof Undefined) {
      return 0;
    }
    if (o instanceof PyBytes bytes) {
      return bytes.bytes().length;
    }
    return o instanceof PyIterable iterable ? iterable.length(r) : -1;
  }

  /** Whether the type has {@code __getitem__}. */
  public static boolean isSubscriptable(Object o) {
    return isString(o)
        || o instanceof List
        || o instanceof Map
        || o instanceof PyRange
        || o instanceof Undefined
        || o instanceof PyBytes;
  }

  /**
   * {@code container[key]} without slices.
   *
   * @return the item, or {@link Missing#MISSING} where Python raises a {@code TypeError} or {@code
   *     LookupError}
   */
  public static Object item(Rendering r, Object container, Object key) {
    if (container instanceof Map<?, ?> map) {
      if (key instanceof String s) {
        return Dicts.get(map, s);
      }
      try {
        return Dicts.get(r, map, key);
      } catch (PyError e) {
        if (e.type().equals("TypeError")) {
          return Missing.MISSING;
        }
        throw e;
      }
    }
    if (container instanceof Undefined undefined) {
      throw undefined.error();
    }
    if (container instanceof PyIndexable indexable) {
      return indexable.item(r, key);
    }
    if (!Numbers.isLong(key)) {
      return Missing.MISSING;
    }
    long index = Numbers.asLong(key);
    if (container instanceof List<?> list) {
      long at = index < 0 ? index + list.size() : index;
      return at >= 0 && at < list.size() ? in(list.get((int) at)) : Missing.MISSING;
    }
    if (isString(container)) {
      String s = text(container);
      int length = Text.length(s);
      long at = index < 0 ? index + length : index;
      if (at < 0 || at >= length) {
        return Missing.MISSING;
      }
      String one = Text.at(s, (int) at);
      return container instanceof Markup ? new Markup(one) : one;
    }
    if (container instanceof PyRange range) {
      long at = index < 0 ? index + range.length() : index;
      return at >= 0 && at < range.length() ? (Object) range.at((int) at) : Missing.MISSING;
    }
    if (container instanceof PyBytes bytes) {
      long at = index < 0 ? index + bytes.bytes().length : index;
      return at >= 0 && at < bytes.bytes().length
          ? (Object) (long) (bytes.bytes()[(int) at] & 0xff)
          : Missing.MISSING;
    }
    return Missing.MISSING;
  }

  /**
   * {@code container[start:stop:step]}.
   *
   * @param start an index or None
   * @param stop an index or None
   * @param step a distance or None
   */
  public static Object slice(
      Rendering r, Object container, Object start, Object stop, Object step) {
    if (container instanceof Undefined undefined) {
      throw undefined.error();
    }
    if (container instanceof Map) {
      throw PyError.type("unhashable type: 'slice'");
    }
    if (!isSubscriptable(container)) {
      throw PyError.type("'" + typeName(container) + "' object is not subscriptable");
    }
    long by = step == PyNone.NONE ? 1 : sliceIndex(step);
    if (by == 0) {
      throw PyError.value("slice step cannot be zero");
    }
    by = Math.max(by, -Long.MAX_VALUE);
    int length = length(r, container);
    long from = bound(start, by < 0 ? length - 1 : 0, length, by);
    long to = bound(stop, by < 0 ? -1 : length, length, by);
    int count = (int) (by > 0 ? (to - from + by - 1) / by : (from - to - by - 1) / -by);
    if (by > 0 ? from >= to : from <= to) {
      count = 0;
    }
    if (container instanceof PyRange range) {
      long newStep = range.step() * Math.max(Math.min(by, length + 1), -length - 1L);
      return new PyRange(
          range.start() + from * range.step(),
          range.start() + to * range.step(),
          newStep == 0 ? range.step() : newStep);
    }
    if (isString(container)) {
      String s = stringSlice(r, text(container), (int) from, count, by);
      return container instanceof Markup ? new Markup(s) : s;
    }
    r.charge(count);
    if (container instanceof PyBytes bytes) {
      byte[] taken = new byte[count];
      for (int i = 0; i < count; i++) {
        taken[i] = bytes.bytes()[(int) (from + i * by)];
      }
      return new PyBytes(taken);
    }
    List<?> list = (List<?>) container;
    List<Object> taken = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      taken.add(in(list.get((int) (from + i * by))));
    }
    return container instanceof PyTuple ? new PyTuple(taken.toArray()) : taken;
  }

  private static String stringSlice(Rendering r, String s, int from, int count, long by) {
    if (count == 0) {
      return "";
    }
    r.chargeChars(count);
    if (by == 1) {
      return Text.substring(s, from, from + count);
    }
    if (Text.isSimple(s)) {
      StringBuilder sb = new StringBuilder(count);
      for (int i = 0; i < count; i++) {
        sb.append(s.charAt((int) (from + i * by)));
      }
      return sb.toString();
    }
    int[] codePoints = s.codePoints().toArray();
    r.chargeChars(codePoints.length);
    StringBuilder sb = new StringBuilder(count);
    for (int i = 0; i < count; i++) {
      sb.appendCodePoint(codePoints[(int) (from + i * by)]);
    }
    return sb.toString();
  }

  private static long bound(Object index, int whenNone, int length, long by) {
    if (index == PyNone.NONE) {
      return whenNone;
    }
    long i = sliceIndex(index);
    if (i < 0) {
      i += length;
      if (i < 0) {
        return by < 0 ? -1 : 0;
      }
    }
    return i >= length ? (by < 0 ? length - 1 : length) : i;
  }

  private static long sliceIndex(Object o) {
    if (!Numbers.isIntegral(o)) {
      throw PyError.type("slice indices must be integers or None or have an __index__ method");
    }
    return Numbers.index(o);
  }

  /** Whether a value can be called. */
  public static boolean isCallable(Object o) {
    return o instanceof PyCallable || o instanceof Undefined;
  }

  /** Calls a value; a {@code TypeError} where it can't be. */
  public static Object call(Rendering r, Object callee, Args args) {
    if (callee instanceof PyCallable c) {
      r.charge();
      return c.call(r, args);
    }
    if (callee instanceof Undefined undefined) {
      throw undefined.error();
    }
    throw PyError.type("'" + typeName(callee) + "' object is not callable");
  }
}
