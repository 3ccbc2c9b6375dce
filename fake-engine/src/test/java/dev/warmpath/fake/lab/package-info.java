@NullMarked
package dev.warmpath.fake.lab;

import org.jspecify.annotations.NullMarked;
