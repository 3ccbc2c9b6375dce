package dev.warmpath.prompt.template.internal.library;

import dev.warmpath.prompt.template.internal.python.Args;
import dev.warmpath.prompt.template.internal.python.Arithmetic;
import dev.warmpath.prompt.template.internal.python.Compare;
import dev.warmpath.prompt.template.internal.python.DictView;
import dev.warmpath.prompt.template.internal.python.GroupTuple;
import dev.warmpath.prompt.template.internal.python.HashSetOfValues;
import dev.warmpath.prompt.template.internal.python.LazyIterator;
import dev.warmpath.prompt.template.internal.python.Markup;
import dev.warmpath.prompt.template.internal.python.Missing;
import dev.warmpath.prompt.template.internal.python.Numbers;
import dev.warmpath.prompt.template.internal.python.Py;
import dev.warmpath.prompt.template.internal.python.PyError;
import dev.warmpath.prompt.template.internal.python.PyIterator;
import dev.warmpath.prompt.template.internal.python.PyNone;
import dev.warmpath.prompt.template.internal.python.PyRange;
import dev.warmpath.prompt.template.internal.python.PyTuple;
import dev.warmpath.prompt.template.internal.python.Rendering;
import dev.warmpath.prompt.template.internal.python.Repr;
import dev.warmpath.prompt.template.internal.python.Undefined;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * Filters over lists, dicts and whatever can be iterated. Those that are generators in Python are
 * lazy here too.
 */
final class SequenceFilters {
  private SequenceFilters() {}

  static void define(Map<String, Function> filters) {
    Function length = Function.builtIn("len", (r, value) -> (long) Py.length(r, value));
    filters.put("length", length);
    filters.put("count", length);
    filters.put("list", Function.python("sync_do_list", 0, "value", (r, v) -> Py.list(r, v[0])));
    filters.put("first", Function.python("sync_do_first", 1, "seq", SequenceFilters::first));
    filters.put("last", Function.python("do_last", 1, "seq", SequenceFilters::last));
    filters.put("random", Function.python("do_random", 1, "seq", SequenceFilters::random));
    filters.put("reverse", Function.python("do_reverse", 0, "value", SequenceFilters::reverse));
    filters.put(
        "join",
        Function.python("sync_do_join", 1, "value, d='', attribute=None", SequenceFilters::join));
    filters.put(
        "sort",
        Function.python(
            "do_sort",
            1,
            "value, reverse=False, case_sensitive=False, attribute=None",
            SequenceFilters::sort));
    filters.put(
        "unique",
        Function.python(
            "sync_do_unique",
            1,
            "value, case_sensitive=False, attribute=None",
            SequenceFilters::unique));
    filters.put(
        "min",
        Function.python(
            "do_min",
            1,
            "value, case_sensitive=False, attribute=None",
            (r, v) -> extreme(r, v, Compare.Order.LT)));
    filters.put(
        "max",
        Function.python(
            "do_max",
            1,
            "value, case_sensitive=False, attribute=None",
            (r, v) -> extreme(r, v, Compare.Order.GT)));
    filters.put(
        "sum",
        Function.python(
            "sync_do_sum", 1, "iterable, attribute=None, start=0", SequenceFilters::sum));
    filters.put(
        "batch",
        Function.python("do_batch", 0, "value, linecount, fill_with=None", SequenceFilters::batch));
    filters.put(
        "slice",
        Function.python(
            "sync_do_slice", 0, "value, slices, fill_with=None", SequenceFilters::slice));
    filters.put(
        "groupby",
        Function.python(
            "sync_do_groupby",
            1,
            "value, attribute, default=None, case_sensitive=False",
            SequenceFilters::groupBy));
    filters.put(
        "dictsort",
        Function.python(
            "do_dictsort",
            0,
            "value, case_sensitive=False, by='key', reverse=False",
            SequenceFilters::dictSort));
    filters.put("items", Function.python("do_items", 0, "value", SequenceFilters::items));
    filters.put("map", Function.raw("sync_do_map", SequenceFilters::map));
    filters.put(
        "select", Function.raw("sync_do_select", (r, args) -> select(r, args, false, true)));
    filters.put(
        "reject", Function.raw("sync_do_reject", (r, args) -> select(r, args, false, false)));
    filters.put(
        "selectattr", Function.raw("sync_do_selectattr", (r, args) -> select(r, args, true, true)));
    filters.put(
        "rejectattr",
        Function.raw("sync_do_rejectattr", (r, args) -> select(r, args, true, false)));
  }

  private static Object first(Rendering r, Object[] v) {
    Iterator<Object> it = Py.iterate(r, v[0]);
    return it.hasNext() ? it.next() : Undefined.because("No first item, sequence was empty.");
  }

  private static Object last(Rendering r, Object[] v) {
    Iterator<Object> it = reversed(r, v[0]);
    return it.hasNext() ? it.next() : Undefined.because("No last item, sequence was empty.");
  }

  private static Object random(Rendering r, Object[] v) {
    int length = Py.length(r, v[0]);
    if (length == 0) {
      return Undefined.because("No random item, sequence was empty.");
    }
    long index = r.random().nextInt(length);
    Object item = Py.item(r, v[0], index);
    if (item == Missing.MISSING) {
      throw PyError.of("KeyError", Long.toString(index));
    }
    return item;
  }

  /** Python's {@code reversed}; a {@code TypeError} where there is none. */
  private static Iterator<Object> reversed(Rendering r, Object value) {
    if (!isReversible(value)) {
      throw PyError.type("'" + Py.typeName(value) + "' object is not reversible");
    }
    if (value instanceof List<?> list) {
      return new LazyIterator() {
        private int at = list.size();

        @Override
        protected Object advance() {
          return at == 0 ? Missing.MISSING : Py.in(list.get(--at));
        }
      };
    }
    List<Object> all = Py.list(r, value);
    Collections.reverse(all);
    return all.iterator();
  }

  private static boolean isReversible(Object value) {
    return Py.isSubscriptable(value) || value instanceof DictView;
  }

  private static Object reverse(Rendering r, Object[] v) {
    Object value = v[0];
    if (Py.isString(value)) {
      return Py.slice(r, value, PyNone.NONE, PyNone.NONE, -1L);
    }
    if (isReversible(value)) {
      return PyIterator.of(reverseType(value), reversed(r, value));
    }
    if (!Py.isIterable(value)) {
      throw PyError.filterArgument("argument must be iterable");
    }
    List<Object> all = Py.list(r, value);
    Collections.reverse(all);
    return all;
  }

  /** The name of the type that Python's {@code reversed} gives. */
  private static String reverseType(Object value) {
    if (value instanceof List) {
      return value instanceof PyTuple ? "reversed" : "list_reverseiterator";
    }
    if (value instanceof DictView view) {
      return switch (view.kind()) {
        case KEYS -> "dict_reversekeyiterator";
        case VALUES -> "dict_reversevalueiterator";
        case ITEMS -> "dict_reverseitemiterator";
      };
    }
    if (value instanceof Map) {
      return "dict_reversekeyiterator";
    }
    return value instanceof PyRange ? "range_iterator" : "reversed";
  }

  private static Object join(Rendering r, Object[] v) {
    AttributeGetter getter = v[2] == PyNone.NONE ? null : AttributeGetter.of(r, v[2], PyNone.NONE);
    Iterator<Object> it = Py.iterate(r, v[0]);
    if (r.autoescape()) {
      return joinEscaping(r, it, v[1], getter);
    }
    String separator = Py.str(r, v[1]);
    StringBuilder joined = new StringBuilder();
    for (boolean first = true; it.hasNext(); first = false) {
      r.charge();
      Object item = it.next();
      if (!first) {
        joined.append(separator);
      }
      Py.appendStr(r, joined, getter == null ? item : getter.get(item));
      if (joined.length() > r.maxLength()) {
        r.chargeChars(joined.length());
      }
    }
    r.chargeChars(joined.length());
    return joined.toString();
  }

  private static Object joinEscaping(
      Rendering r,
      Iterator<Object> it,
      Object separator,
      @org.jspecify.annotations.Nullable AttributeGetter getter) {
    List<Object> items = new ArrayList<>();
    boolean escape = separator instanceof Markup;
    while (it.hasNext()) {
      r.charge();
      Object item = it.next();
      items.add(getter == null ? item : getter.get(item));
      escape |= items.get(items.size() - 1) instanceof Markup;
    }
    StringBuilder joined = new StringBuilder();
    for (int i = 0; i < items.size(); i++) {
      if (i > 0) {
        joined.append(escape ? Markup.escape(r, separator).text() : Py.str(r, separator));
      }
      joined.append(escape ? Markup.escape(r, items.get(i)).text() : Py.str(r, items.get(i)));
      if (joined.length() > r.maxLength()) {
        r.chargeChars(joined.length());
      }
    }
    r.chargeChars(joined.length());
    return escape ? new Markup(joined.toString()) : joined.toString();
  }

  private static Object sort(Rendering r, Object[] v) {
    Compare.Key key = AttributeGetter.several(r, v[3], !Py.isTrue(r, v[2]));
    return Compare.sorted(r, Py.list(r, v[0]), key, Py.isTrue(r, v[1]));
  }

  private static Object unique(Rendering r, Object[] v) {
    return generator(
        "sync_do_unique",
        () -> {
          AttributeGetter getter = AttributeGetter.of(r, v[2], !Py.isTrue(r, v[1]), PyNone.NONE);
          Iterator<Object> it = Py.iterate(r, v[0]);
          HashSetOfValues seen = new HashSetOfValues();
          return new LazyIterator() {
            @Override
            protected Object advance() {
              while (it.hasNext()) {
                r.charge();
                Object item = it.next();
                if (seen.add(r, getter.get(item))) {
                  return item;
                }
              }
              return Missing.MISSING;
            }
          };
        });
  }

  private static Object extreme(Rendering r, Object[] v, Compare.Order order) {
    Iterator<Object> it = Py.iterate(r, v[0]);
    if (!it.hasNext()) {
      return Undefined.because("No aggregated item, sequence was empty.");
    }
    AttributeGetter getter = AttributeGetter.of(r, v[2], !Py.isTrue(r, v[1]), PyNone.NONE);
    Object best = it.next();
    Object bestKey = getter.get(best);
    while (it.hasNext()) {
      r.charge();
      Object item = it.next();
      Object key = getter.get(item);
      if (Compare.ordered(r, key, bestKey, order)) {
        best = item;
        bestKey = key;
      }
    }
    return best;
  }

  private static Object sum(Rendering r, Object[] v) {
    AttributeGetter getter = v[1] == PyNone.NONE ? null : AttributeGetter.of(r, v[1], PyNone.NONE);
    Iterator<Object> it = Py.iterate(r, v[0]);
    Object sum = v[2];
    if (Py.isString(sum)) {
      throw PyError.type("sum() can't sum strings [use ''.join(seq) instead]");
    }
    while (it.hasNext()) {
      r.charge();
      Object item = it.next();
      sum = Arithmetic.add(r, sum, getter == null ? item : getter.get(item));
    }
    return sum;
  }

  private static Object batch(Rendering r, Object[] v) {
    return generator(
        "do_batch",
        () -> {
          Iterator<Object> it = Py.iterate(r, v[0]);
          return new LazyIterator() {
            private boolean begun;
            private List<Object> pending = new ArrayList<>();

            @Override
            protected Object advance() {
              while (it.hasNext()) {
                r.charge();
                Object item = it.next();
                List<Object> full = Compare.equal(r, (long) pending.size(), v[1]) ? pending : null;
                if (full != null) {
                  pending = new ArrayList<>();
                }
                pending.add(item);
                if (full != null) {
                  return full;
                }
              }
              if (begun || pending.isEmpty()) {
                return Missing.MISSING;
              }
              begun = true;
              if (v[2] != PyNone.NONE
                  && Compare.ordered(r, (long) pending.size(), v[1], Compare.Order.LT)) {
                long missing = Numbers.size(v[1]) - (long) pending.size();
                r.charge(missing);
                pending.addAll(Collections.nCopies((int) missing, v[2]));
              }
              return pending;
            }
          };
        });
  }

  private static Object slice(Rendering r, Object[] v) {
    return generator(
        "sync_do_slice",
        () -> {
          List<Object> all = Py.list(r, v[0]);
          Object each = Arithmetic.floorDivide(r, (long) all.size(), v[1]);
          Object extra = Arithmetic.modulo(r, (long) all.size(), v[1]);
          int slices = Numbers.size(v[1]);
          int perSlice = Numbers.size(each);
          int withExtra = Numbers.size(extra);
          return new LazyIterator() {
            private int number;
            private int offset;

            @Override
            protected Object advance() {
              if (number >= slices) {
                return Missing.MISSING;
              }
              int start = offset + number * perSlice;
              if (number < withExtra) {
                offset++;
              }
              int end = offset + (number + 1) * perSlice;
              r.charge(end - start + 1L);
              List<Object> part = new ArrayList<>(all.subList(start, end));
              if (v[2] != PyNone.NONE && number >= withExtra) {
                part.add(v[2]);
              }
              number++;
              return part;
            }
          };
        });
  }

  private static Object groupBy(Rendering r, Object[] v) {
    boolean ignoreCase = !Py.isTrue(r, v[3]);
    AttributeGetter key = AttributeGetter.of(r, v[1], ignoreCase, v[2]);
    AttributeGetter shown = AttributeGetter.of(r, v[1], v[2]);
    List<Object> groups = new ArrayList<>();
    List<Object> group = List.of();
    Object groupKey = Missing.MISSING;
    for (Object item : Compare.sorted(r, Py.list(r, v[0]), key::get, false)) {
      r.charge();
      Object itemKey = key.get(item);
      if (groupKey == Missing.MISSING || !Compare.same(r, groupKey, itemKey)) {
        group = new ArrayList<>();
        groupKey = itemKey;
        groups.add(new GroupTuple(ignoreCase ? shown.get(item) : itemKey, group));
      }
      group.add(item);
    }
    return groups;
  }

  private static Object dictSort(Rendering r, Object[] v) {
    int position = Compare.equal(r, v[2], "key") ? 0 : Compare.equal(r, v[2], "value") ? 1 : -1;
    if (position < 0) {
      throw PyError.filterArgument("You can only sort by either \"key\" or \"value\"");
    }
    if (v[0] instanceof Undefined undefined) {
      throw undefined.error();
    }
    if (!(v[0] instanceof Map<?, ?> map)) {
      throw PyError.of(
          "AttributeError", "'" + Py.typeName(v[0]) + "' object has no attribute 'items'");
    }
    boolean caseSensitive = Py.isTrue(r, v[1]);
    List<Object> pairs = Py.list(r, new DictView(map, DictView.Kind.ITEMS));
    return Compare.sorted(
        r,
        pairs,
        pair -> {
          Object key = ((PyTuple) pair).get(position);
          return caseSensitive ? key : AttributeGetter.ignoreCase(key);
        },
        Py.isTrue(r, v[3]));
  }

  private static Object items(Rendering r, Object[] v) {
    return generator(
        "do_items",
        () -> {
          if (v[0] instanceof Undefined) {
            return Collections.emptyIterator();
          }
          if (!(v[0] instanceof Map<?, ?> map)) {
            throw PyError.type("Can only get item pairs from a mapping.");
          }
          return new DictView(map, DictView.Kind.ITEMS).iterator();
        });
  }

  private static Object value(String function, Args args) {
    if (args.count() == 0) {
      throw PyError.type(function + "() missing 1 required positional argument: 'value'");
    }
    return args.get(0);
  }

  private static Object map(Rendering r, Args args) {
    Object value = value("sync_do_map", args);
    return generator(
        "sync_do_map",
        () -> {
          if (!Py.isTrue(r, value)) {
            return Collections.emptyIterator();
          }
          UnaryOperator<Object> function = mapping(r, args.from(1));
          Iterator<Object> it = Py.iterate(r, value);
          return new LazyIterator() {
            @Override
            protected Object advance() {
              r.charge();
              return it.hasNext() ? function.apply(it.next()) : Missing.MISSING;
            }
          };
        });
  }

  private static UnaryOperator<Object> mapping(Rendering r, Args args) {
    if (args.count() == 0 && args.keywords().containsKey("attribute")) {
      Map<String, Object> keywords = args.mutableKeywords();
      Object attribute = Py.in(keywords.remove("attribute"));
      Object whenUndefined = Py.in(keywords.remove("default"));
      if (!keywords.isEmpty()) {
        throw PyError.filterArgument(
            "Unexpected keyword argument " + Repr.ofString(keywords.keySet().iterator().next()));
      }
      return AttributeGetter.of(r, attribute, whenUndefined)::get;
    }
    if (args.count() == 0) {
      throw PyError.filterArgument("map requires a filter argument");
    }
    Object name = args.get(0);
    Args rest = args.from(1);
    return item -> {
      Function filter = Py.isString(name) ? Filters.get(Py.text(name)) : null;
      if (filter == null) {
        throw unknown(r, "filter", name);
      }
      return filter.call(r, rest.prepend(item));
    };
  }

  private static PyError unknown(Rendering r, String kind, Object name) {
    new HashSetOfValues().contains(r, name);
    String message = "No " + kind + " named " + Repr.of(r, name) + ".";
    return PyError.runtime(
        name instanceof Undefined undefined
            ? message + " (" + undefined.message() + "; did you forget to quote the callable name?)"
            : message);
  }

  private static Object select(Rendering r, Args args, boolean byAttribute, boolean wanted) {
    Object value =
        value("sync_do_" + (wanted ? "select" : "reject") + (byAttribute ? "attr" : ""), args);
    return generator(
        "select_or_reject",
        () -> {
          if (!Py.isTrue(r, value)) {
            return Collections.emptyIterator();
          }
          UnaryOperator<Object> function = selection(r, args.from(1), byAttribute);
          Iterator<Object> it = Py.iterate(r, value);
          return new LazyIterator() {
            @Override
            protected Object advance() {
              while (it.hasNext()) {
                r.charge();
                Object item = it.next();
                if (Py.isTrue(r, function.apply(item)) == wanted) {
                  return item;
                }
              }
              return Missing.MISSING;
            }
          };
        });
  }

  private static UnaryOperator<Object> selection(Rendering r, Args args, boolean byAttribute) {
    UnaryOperator<Object> read = UnaryOperator.identity();
    Args rest = args;
    if (byAttribute) {
      if (args.count() == 0) {
        throw PyError.filterArgument("Missing parameter for attribute name");
      }
      read = AttributeGetter.of(r, args.get(0), PyNone.NONE)::get;
      rest = args.from(1);
    }
    UnaryOperator<Object> subject = read;
    if (rest.count() == 0) {
      return subject;
    }
    Object name = rest.get(0);
    Args arguments = rest.from(1);
    return item -> {
      Object tested = subject.apply(item);
      Function test = Py.isString(name) ? Tests.get(Py.text(name)) : null;
      if (test == null) {
        throw unknown(r, "test", name);
      }
      return test.call(r, arguments.prepend(tested));
    };
  }

  /** A generator whose body begins to run when its first value is asked for. */
  private static PyIterator generator(String function, Supplier<Iterator<Object>> body) {
    return PyIterator.generator(
        function,
        new LazyIterator() {
          private @org.jspecify.annotations.Nullable Iterator<Object> iterator;

          @Override
          protected Object advance() {
            Iterator<Object> it = iterator;
            if (it == null) {
              it = body.get();
              iterator = it;
            }
            return it.hasNext() ? it.next() : Missing.MISSING;
          }
        });
  }
}
