@NullMarked
package dev.warmpath.fake.load;

import org.jspecify.annotations.NullMarked;
