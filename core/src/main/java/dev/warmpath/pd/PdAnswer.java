package dev.warmpath.pd;

import dev.warmpath.api.Headers;

/** An answer that was read whole. */
record PdAnswer(int status, Headers headers, byte[] body) {}
