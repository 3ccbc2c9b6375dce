package dev.warmpath.prompt.template.internal.compile;

/** How a variable gets its value when its scope is entered. */
sealed interface Load {
  /** It is a parameter: whoever enters the scope has set it. */
  record Parameter() implements Load {}

  /** It is looked up in the context. */
  record Resolve(String name) implements Load {}

  /** It starts as a copy of an outer variable. */
  record Alias(Ident outer) implements Load {}

  /** It starts as undefined. */
  record Undefined() implements Load {}
}
