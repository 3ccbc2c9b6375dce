/**
 * Who the workers are: identity, data-parallel ranks, roles, engine kinds, the registry and its
 * immutable {@link dev.warmpath.worker.Topology} snapshots, and discovery.
 */
@NullMarked
package dev.warmpath.worker;

import org.jspecify.annotations.NullMarked;
