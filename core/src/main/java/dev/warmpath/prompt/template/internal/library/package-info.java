/**
 * What a chat template can call: the filters, tests and global functions of Jinja2 3.1 as
 * transformers sets them up, and the methods of Python's built-in types, behind the rules of the
 * sandbox.
 */
@NullMarked
package dev.warmpath.prompt.template.internal.library;

import org.jspecify.annotations.NullMarked;
