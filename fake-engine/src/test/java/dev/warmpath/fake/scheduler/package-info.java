@NullMarked
package dev.warmpath.fake.scheduler;

import org.jspecify.annotations.NullMarked;
