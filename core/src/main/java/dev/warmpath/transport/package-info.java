/**
 * The SPI that the integrations implement: sending one request to one worker, probing what a worker
 * is, and reading its health and load. Nothing here decides.
 */
@NullMarked
package dev.warmpath.transport;

import org.jspecify.annotations.NullMarked;
