@NullMarked
package dev.warmpath.fake.fault;

import org.jspecify.annotations.NullMarked;
