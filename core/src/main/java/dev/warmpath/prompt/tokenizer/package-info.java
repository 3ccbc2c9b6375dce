/**
 * Tokenizers: exactly the ids that a model's own tokenizer gives, at memory speed, with the cut at
 * added tokens that makes caching by segment exact, and text back from ids as they stream in.
 *
 * <p>{@link dev.warmpath.prompt.tokenizer.Tokenizers} reads a Hugging Face {@code tokenizer.json};
 * {@link dev.warmpath.prompt.tokenizer.Tokenizer} is the SPI.
 */
@NullMarked
package dev.warmpath.prompt.tokenizer;

import org.jspecify.annotations.NullMarked;
