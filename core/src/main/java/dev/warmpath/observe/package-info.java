/**
 * What operators see: metrics of a client and of its requests, as Prometheus text or through
 * Micrometer.
 */
@NullMarked
package dev.warmpath.observe;

import org.jspecify.annotations.NullMarked;
