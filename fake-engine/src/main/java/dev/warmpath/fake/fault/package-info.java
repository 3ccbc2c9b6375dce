/** Ways in which a fake engine fails on purpose. */
@NullMarked
package dev.warmpath.fake.fault;

import org.jspecify.annotations.NullMarked;
