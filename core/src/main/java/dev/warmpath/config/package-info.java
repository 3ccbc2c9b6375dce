/** The configuration file: one table of its keys, from which it is read, checked and documented. */
@NullMarked
package dev.warmpath.config;

import org.jspecify.annotations.NullMarked;
