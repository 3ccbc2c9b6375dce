/**
 * What engines say of themselves over HTTP, read into the transport SPI's reports. Not for
 * applications.
 */
@NullMarked
package dev.warmpath.okhttp.internal;

import org.jspecify.annotations.NullMarked;
