/**
 * Python's values and operators as chat templates see them.
 *
 * <p>Plain Java values stand for Python's: {@code String}, {@code Boolean}, every integral and
 * floating {@code Number}, {@code List} and {@code Map} are used as they come, so that a parsed
 * JSON document needs no copy. Everything else a template can hold is a {@link
 * dev.warmpath.prompt.template.internal.python.PyObject}. {@code null} inside a foreign container
 * reads as {@link dev.warmpath.prompt.template.internal.python.PyNone#NONE}.
 */
@NullMarked
package dev.warmpath.prompt.template.internal.python;

import org.jspecify.annotations.NullMarked;
