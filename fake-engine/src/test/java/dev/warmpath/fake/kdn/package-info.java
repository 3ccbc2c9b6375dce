@NullMarked
package dev.warmpath.fake.kdn;

import org.jspecify.annotations.NullMarked;
