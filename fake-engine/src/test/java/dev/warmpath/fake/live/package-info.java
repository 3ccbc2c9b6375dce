@NullMarked
package dev.warmpath.fake.live;

import org.jspecify.annotations.NullMarked;
