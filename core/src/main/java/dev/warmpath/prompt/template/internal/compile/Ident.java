package dev.warmpath.prompt.template.internal.compile;

/**
 * A variable of the translated template: a name on a level of nesting. Scopes of one function and
 * one level that use a name share the variable.
 */
record Ident(int level, String name) {}
