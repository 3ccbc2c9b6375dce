/** A service that answers from a folder of texts, as an application would write it. */
@NullMarked
package dev.warmpath.examples.rag;

import org.jspecify.annotations.NullMarked;
