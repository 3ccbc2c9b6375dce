package dev.warmpath.prompt.template.internal.python;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The arguments of one call.
 *
 * @param positional positional arguments
 * @param keywords keyword arguments in the order given
 */
@SuppressWarnings("ArrayRecordComponent") // internal, never compared, and a copy a call would cost
public record Args(Object[] positional, Map<String, Object> keywords) {
  private static final Object[] NO_OBJECTS = {};

  /** No arguments at all. */
  public static final Args NONE = new Args(NO_OBJECTS, Map.of());

  /** Positional arguments only. */
  public static Args of(Object... positional) {
    return new Args(positional, Map.of());
  }

  /** How many positional ones there are. */
  public int count() {
    return positional.length;
  }

  /** A positional argument. */
  public Object get(int index) {
    return positional[index];
  }

  /** The same arguments behind one more. */
  public Args prepend(Object first) {
    Object[] all = new Object[positional.length + 1];
    all[0] = first;
    System.arraycopy(positional, 0, all, 1, positional.length);
    return new Args(all, keywords);
  }

  /** The positional arguments from an index on, with the same keywords. */
  public Args from(int index) {
    return new Args(
        index >= positional.length
            ? NO_OBJECTS
            : Arrays.copyOfRange(positional, index, positional.length),
        keywords);
  }

  /** A copy of the keywords that may be changed. */
  public Map<String, Object> mutableKeywords() {
    return new LinkedHashMap<>(keywords);
  }
}
