@NullMarked
package dev.warmpath.fake.internal.http;

import org.jspecify.annotations.NullMarked;
