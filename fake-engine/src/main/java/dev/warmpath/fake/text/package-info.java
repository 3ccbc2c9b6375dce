/** Deterministic tokens and text, so that prefix caching works over real conversations. */
@NullMarked
package dev.warmpath.fake.text;

import org.jspecify.annotations.NullMarked;
