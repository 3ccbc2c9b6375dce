/**
 * Knowledge routing in two stages: first the knowledge delivery node that has a request's
 * knowledge, then the target that should answer, by topology, load and affinity.
 *
 * <p>The rules are those of CacheRoute (AstraNetLab/CacheRoute, v0.1.9), in both orders that were
 * published for its second stage.
 */
@NullMarked
package dev.warmpath.knowledge;

import org.jspecify.annotations.NullMarked;
