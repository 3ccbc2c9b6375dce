@NullMarked
package dev.warmpath.fake.handoff;

import org.jspecify.annotations.NullMarked;
