/**
 * From a syntax tree to executable nodes: the scoping rules of Jinja2's compiler, with every
 * variable resolved to a slot of the function it belongs to.
 *
 * <p>Jinja2 translates templates to Python functions, and what a name means follows from that
 * translation. The same analysis runs here, identifier by identifier, so that shadowing, closures
 * and the quirks of branches and loops come out the same.
 */
@NullMarked
package dev.warmpath.prompt.template.internal.compile;

import org.jspecify.annotations.NullMarked;
