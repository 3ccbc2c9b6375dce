/**
 * The fleet study: what routing by many independent clients costs, in a simulation that is small
 * enough to be read. A worker with one pass model and one cache, telemetry that is up to a poll
 * old, and other routers' rules re-implemented from their public descriptions, frozen, so that what
 * changes in this project is measured against what doesn't.
 */
@NullMarked
package dev.warmpath.fake.study;

import org.jspecify.annotations.NullMarked;
