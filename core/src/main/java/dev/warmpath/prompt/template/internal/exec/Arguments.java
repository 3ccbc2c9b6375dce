package dev.warmpath.prompt.template.internal.exec;

import dev.warmpath.prompt.template.internal.python.Args;
import dev.warmpath.prompt.template.internal.python.Py;
import dev.warmpath.prompt.template.internal.python.PyError;
import dev.warmpath.prompt.template.internal.python.Undefined;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The arguments written in a call, a filter or a test. */
public final class Arguments {
  private final Expression[] positional;
  private final String[] keywordNames;
  private final Expression[] keywordValues;
  private final @Nullable Expression more;
  private final @Nullable Expression moreKeywords;

  /**
   * Arguments.
   *
   * @param keywordNames as many as {@code keywordValues}
   * @param more what stands behind {@code *}
   * @param moreKeywords what stands behind {@code **}
   */
  public Arguments(
      List<Expression> positional,
      List<String> keywordNames,
      List<Expression> keywordValues,
      @Nullable Expression more,
      @Nullable Expression moreKeywords) {
    this.positional = positional.toArray(new Expression[0]);
    this.keywordNames = keywordNames.toArray(new String[0]);
    this.keywordValues = keywordValues.toArray(new Expression[0]);
    this.more = more;
    this.moreKeywords = moreKeywords;
  }

  /** Computes them. */
  Args eval(Frame f) {
    return eval(f, null);
  }

  /** Computes them, and puts a {@code caller} behind the keywords that are written out. */
  Args eval(Frame f, @Nullable Macro caller) {
    if (caller == null
        && positional.length == 0
        && keywordNames.length == 0
        && more == null
        && moreKeywords == null) {
      return Args.NONE;
    }
    Object[] values = new Object[positional.length];
    for (int i = 0; i < values.length; i++) {
      values[i] = positional[i].eval(f);
    }
    if (more != null) {
      values = append(f, values, more.eval(f));
    }
    if (keywordNames.length == 0 && moreKeywords == null && caller == null) {
      return Args.of(values);
    }
    Map<String, Object> keywords = new LinkedHashMap<>();
    for (int i = 0; i < keywordNames.length; i++) {
      keywords.put(keywordNames[i], keywordValues[i].eval(f));
    }
    if (caller != null) {
      keywords.put("caller", caller);
    }
    if (moreKeywords != null) {
      addAll(keywords, moreKeywords.eval(f));
    }
    return new Args(values, keywords);
  }

  private static Object[] append(Frame f, Object[] values, Object more) {
    if (!Py.isIterable(more)) {
      throw PyError.type("argument after * must be an iterable, not " + Py.typeName(more));
    }
    Object[] all = values;
    for (Iterator<Object> it = Py.iterate(f.r, more); it.hasNext(); ) {
      f.r.charge(all.length / 8 + 1);
      all = Arrays.copyOf(all, all.length + 1);
      all[all.length - 1] = it.next();
    }
    return all;
  }

  private static void addAll(Map<String, Object> keywords, Object more) {
    if (more instanceof Undefined undefined) {
      throw undefined.error();
    }
    if (!(more instanceof Map<?, ?> map)) {
      throw PyError.type("argument after ** must be a mapping, not " + Py.typeName(more));
    }
    for (Map.Entry<?, ?> e : map.entrySet()) {
      Object key = Py.in(e.getKey());
      if (!Py.isString(key)) {
        throw PyError.type("keywords must be strings");
      }
      if (keywords.put(Py.text(key), Py.in(e.getValue())) != null) {
        throw PyError.type("got multiple values for keyword argument '" + Py.text(key) + "'");
      }
    }
  }
}
