/**
 * The pipeline of Hugging Face tokenizers 0.21 for byte-pair encoding, read from {@code
 * tokenizer.json}: added tokens, normalizer, pre-tokenizer, model, post-processor, decoder.
 */
@NullMarked
package dev.warmpath.prompt.tokenizer.internal.huggingface;

import org.jspecify.annotations.NullMarked;
