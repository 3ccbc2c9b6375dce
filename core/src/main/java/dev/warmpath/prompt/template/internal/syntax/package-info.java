/** The grammar of Jinja2 3.1: from a template's source to its syntax tree. */
@NullMarked
package dev.warmpath.prompt.template.internal.syntax;

import org.jspecify.annotations.NullMarked;
