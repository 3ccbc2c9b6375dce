/**
 * What an application says and hears: requests and their options, responses, streams, decisions,
 * errors and {@link dev.warmpath.api.RouterListener}.
 */
@NullMarked
package dev.warmpath.api;

import org.jspecify.annotations.NullMarked;
