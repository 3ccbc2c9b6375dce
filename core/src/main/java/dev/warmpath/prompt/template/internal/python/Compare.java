package dev.warmpath.prompt.template.internal.python;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/** Python's comparisons, membership and sorting. */
public final class Compare {
  /** The order operators. */
  public enum Order {
    /** {@code <}. */
    LT("<"),
    /** {@code <=}. */
    LE("<="),
    /** {@code >}. */
    GT(">"),
    /** {@code >=}. */
    GE(">=");

    private final String symbol;

    Order(String symbol) {
      this.symbol = symbol;
    }

    boolean holds(int comparison) {
      return switch (this) {
        case LT -> comparison < 0;
        case LE -> comparison <= 0;
        case GT -> comparison > 0;
        case GE -> comparison >= 0;
      };
    }
  }

  private Compare() {}

  /** {@code a == b}. */
  public static boolean equal(Rendering r, Object a, Object b) {
    return equal(r, a, b, 0);
  }

  /** {@code a is b or a == b}, as containers compare their elements. */
  public static boolean same(Rendering r, Object a, Object b) {
    return same(r, a, b, 0);
  }

  @SuppressWarnings("ReferenceEquality") // identity comes first in Python too
  private static boolean same(Rendering r, Object a, Object b, int depth) {
    return a == b || equal(r, a, b, depth);
  }

  @SuppressWarnings("ReferenceEquality")
  private static boolean equal(Rendering r, Object a, Object b, int depth) {
    if (a instanceof String s) {
      return b instanceof String t
          ? equalText(r, s, t)
          : b instanceof Markup m && equalText(r, s, m.text());
    }
    if (Numbers.isNumber(a)) {
      return Numbers.isNumber(b)
          && !Numbers.isNaN(a)
          && !Numbers.isNaN(b)
          && Numbers.compare(a, b) == 0;
    }
    if (a == b) {
      return true;
    }
    if (depth > Repr.MAX_NESTING) {
      throw PyError.of("RecursionError", "maximum recursion depth exceeded in comparison");
    }
    if (a instanceof List<?> x) {
      return b instanceof List<?> y
          && a instanceof PyTuple == b instanceof PyTuple
          && x.size() == y.size()
          && firstDifference(r, x, y, depth) == x.size();
    }
    if (a instanceof Map<?, ?> x) {
      return b instanceof Map<?, ?> y && x.size() == y.size() && equalDicts(r, x, y, depth);
    }
    if (a instanceof Markup m) {
      return Py.isString(b) && equalText(r, m.text(), Py.text(b));
    }
    if (a instanceof Undefined) {
      return b instanceof Undefined;
    }
    if (a instanceof DictView x && b instanceof DictView y && x.isSetLike() && y.isSetLike()) {
      return x.map().size() == y.map().size() && subset(r, x, y);
    }
    return a.equals(b);
  }

  private static boolean equalText(Rendering r, String a, String b) {
    if (a.length() != b.length()) {
      return false;
    }
    if (a.length() > 1024) {
      r.charge(a.length() / 1024);
    }
    return a.equals(b);
  }

  private static boolean equalDicts(Rendering r, Map<?, ?> x, Map<?, ?> y, int depth) {
    for (Map.Entry<?, ?> e : x.entrySet()) {
      r.charge();
      Object other = Dicts.get(r, y, Py.in(e.getKey()));
      if (other == Missing.MISSING || !same(r, Py.in(e.getValue()), other, depth + 1)) {
        return false;
      }
    }
    return true;
  }

  private static int firstDifference(Rendering r, List<?> x, List<?> y, int depth) {
    int n = Math.min(x.size(), y.size());
    for (int i = 0; i < n; i++) {
      r.charge();
      if (!same(r, Py.in(x.get(i)), Py.in(y.get(i)), depth + 1)) {
        return i;
      }
    }
    return n;
  }

  private static boolean subset(Rendering r, DictView x, DictView y) {
    for (Iterator<Object> it = x.iterator(); it.hasNext(); ) {
      r.charge();
      if (!y.contains(r, it.next())) {
        return false;
      }
    }
    return true;
  }

  /** {@code a < b} and its like; a {@code TypeError} where the types have no order. */
  public static boolean ordered(Rendering r, Object a, Object b, Order order) {
    return ordered(r, a, b, order, 0);
  }

  private static boolean ordered(Rendering r, Object a, Object b, Order order, int depth) {
    if (Numbers.isNumber(a) && Numbers.isNumber(b)) {
      return !Numbers.isNaN(a) && !Numbers.isNaN(b) && order.holds(Numbers.compare(a, b));
    }
    if (Py.isString(a) && Py.isString(b)) {
      String s = Py.text(a);
      String t = Py.text(b);
      r.charge(Math.min(s.length(), t.length()) / 1024);
      return order.holds(Text.compare(s, t));
    }
    if (a instanceof Undefined undefined) {
      throw undefined.error();
    }
    if (b instanceof Undefined undefined) {
      throw undefined.error();
    }
    if (a instanceof List<?> x
        && b instanceof List<?> y
        && a instanceof PyTuple == b instanceof PyTuple) {
      if (depth > Repr.MAX_NESTING) {
        throw PyError.of("RecursionError", "maximum recursion depth exceeded in comparison");
      }
      int i = firstDifference(r, x, y, depth);
      return i < Math.min(x.size(), y.size())
          ? ordered(r, Py.in(x.get(i)), Py.in(y.get(i)), order, depth + 1)
          : order.holds(Integer.compare(x.size(), y.size()));
    }
    if (a instanceof DictView x && b instanceof DictView y && x.isSetLike() && y.isSetLike()) {
      int sizes = Integer.compare(x.map().size(), y.map().size());
      return switch (order) {
        case LT -> sizes < 0 && subset(r, x, y);
        case LE -> sizes <= 0 && subset(r, x, y);
        case GT -> sizes > 0 && subset(r, y, x);
        case GE -> sizes >= 0 && subset(r, y, x);
      };
    }
    throw PyError.type(
        "'"
            + order.symbol
            + "' not supported between instances of '"
            + Py.typeName(a)
            + "' and '"
            + Py.typeName(b)
            + "'");
  }

  /** {@code item in container}. */
  public static boolean contains(Rendering r, Object container, Object item) {
    if (Py.isString(container)) {
      if (!Py.isString(item)) {
        throw PyError.type(
            "'in <string>' requires string as left operand, not " + Py.typeName(item));
      }
      return Text.indexOf(r, Py.text(container), Py.text(item), 0) >= 0;
    }
    if (container instanceof Map<?, ?> map) {
      return Dicts.get(r, map, item) != Missing.MISSING;
    }
    if (container instanceof DictView view) {
      return view.contains(r, item);
    }
    if (container instanceof PyRange range && Numbers.isLong(item)) {
      return range.indexOf(Numbers.asLong(item)) >= 0;
    }
    if (!Py.isIterable(container)) {
      throw PyError.type("argument of type '" + Py.typeName(container) + "' is not iterable");
    }
    for (Iterator<Object> it = Py.iterate(r, container); it.hasNext(); ) {
      r.charge();
      if (same(r, it.next(), item)) {
        return true;
      }
    }
    return false;
  }

  /** Something to sort: a value and what it is sorted by. */
  private record Keyed(Object key, Object value) {}

  /** What a value is sorted by. */
  @FunctionalInterface
  public interface Key {
    /** The key of a value. */
    Object of(Object value);
  }

  /**
   * Python's {@code sorted}. It asks for {@code <} alone, of the same pairs that CPython asks
   * first.
   */
  public static List<Object> sorted(Rendering r, List<Object> values, Key key, boolean reverse) {
    int n = values.size();
    Keyed[] a = new Keyed[n];
    for (int i = 0; i < n; i++) {
      Object value = values.get(reverse ? n - 1 - i : i);
      a[i] = new Keyed(key.of(value), value);
    }
    if (n > 1) {
      mergeSort(r, a, new Keyed[n], 0, n);
    }
    List<Object> sorted = new ArrayList<>(n);
    for (int i = 0; i < n; i++) {
      sorted.add(a[reverse ? n - 1 - i : i].value);
    }
    return sorted;
  }

  private static boolean less(Rendering r, Keyed x, Keyed y) {
    r.charge();
    return ordered(r, x.key, y.key, Order.LT);
  }

  private static void mergeSort(Rendering r, Keyed[] a, Keyed[] spare, int from, int to) {
    if (to - from <= 64) {
      binaryInsertionSort(r, a, from, to);
      return;
    }
    int middle = (from + to) >>> 1;
    mergeSort(r, a, spare, from, middle);
    mergeSort(r, a, spare, middle, to);
    System.arraycopy(a, from, spare, from, middle - from);
    int left = from;
    int right = middle;
    for (int i = from; left < middle; i++) {
      if (right < to && less(r, a[right], spare[left])) {
        a[i] = a[right++];
      } else {
        a[i] = spare[left++];
      }
    }
  }

  private static void binaryInsertionSort(Rendering r, Keyed[] a, int from, int to) {
    int sorted = from + run(r, a, from, to);
    for (int i = sorted; i < to; i++) {
      Keyed pivot = a[i];
      int low = from;
      int high = i;
      while (low < high) {
        int middle = (low + high) >>> 1;
        if (less(r, pivot, a[middle])) {
          high = middle;
        } else {
          low = middle + 1;
        }
      }
      System.arraycopy(a, low, a, low + 1, i - low);
      a[low] = pivot;
    }
  }

  /** Length of the ordered run at the start, which is turned round where it descends. */
  private static int run(Rendering r, Keyed[] a, int from, int to) {
    if (to - from < 2) {
      return to - from;
    }
    int end = from + 2;
    if (less(r, a[from + 1], a[from])) {
      while (end < to && less(r, a[end], a[end - 1])) {
        end++;
      }
      for (int i = from, j = end - 1; i < j; i++, j--) {
        Keyed swap = a[i];
        a[i] = a[j];
        a[j] = swap;
      }
    } else {
      while (end < to && !less(r, a[end], a[end - 1])) {
        end++;
      }
    }
    return end - from;
  }
}
