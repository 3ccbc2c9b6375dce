/** What a fake engine publishes of its KV cache, and where. */
@NullMarked
package dev.warmpath.fake.kv;

import org.jspecify.annotations.NullMarked;
