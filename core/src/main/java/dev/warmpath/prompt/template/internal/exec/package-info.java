/** The executable form of a template: a tree of nodes over frames of variable slots. */
@NullMarked
package dev.warmpath.prompt.template.internal.exec;

import org.jspecify.annotations.NullMarked;
