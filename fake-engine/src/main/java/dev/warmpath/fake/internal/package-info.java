/** What several packages of the fake engine need and nobody else. */
@NullMarked
package dev.warmpath.fake.internal;

import org.jspecify.annotations.NullMarked;
