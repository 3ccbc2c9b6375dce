package dev.warmpath.prompt.template;

/**
 * What a template may use up. Templates come with models from anywhere: within these bounds a
 * hostile one can neither hang a thread nor exhaust the heap.
 *
 * @param maxSourceLength longest source, in UTF-16 units
 * @param maxWork most work of one rendering, in units of about one loop iteration, one call, one
 *     list element or four characters of an intermediate string
 * @param maxOutputLength longest output, and longest intermediate string, in UTF-16 units
 * @param maxDepth deepest nesting of macro calls, blocks and recursive loops
 */
public record TemplateLimits(int maxSourceLength, long maxWork, int maxOutputLength, int maxDepth) {
  private static final TemplateLimits DEFAULTS =
      new TemplateLimits(1 << 20, 50_000_000, 1 << 25, 200);

  /**
   * Checks the bounds.
   *
   * @throws IllegalArgumentException where one is not positive
   */
  public TemplateLimits {
    if (maxSourceLength < 1 || maxWork < 1 || maxOutputLength < 1 || maxDepth < 1) {
      throw new IllegalArgumentException("limits must be positive");
    }
  }

  /**
   * Sources of 1 Mi characters, 50 million units of work (a second or so), 32 Mi characters of
   * output, and a depth of 200, where Python's own recursion limit ends macros too.
   */
  public static TemplateLimits defaults() {
    return DEFAULTS;
  }
}
