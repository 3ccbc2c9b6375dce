/** Which engine a fake one pretends to be, and which of that engine's versions. */
@NullMarked
package dev.warmpath.fake.wire;

import org.jspecify.annotations.NullMarked;
