/**
 * Whole fleets, their router clients and their users in virtual time: hours of traffic in seconds,
 * and the same answer for the same seed.
 */
@NullMarked
package dev.warmpath.fake.lab;

import org.jspecify.annotations.NullMarked;
