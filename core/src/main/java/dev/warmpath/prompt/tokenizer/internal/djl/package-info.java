/**
 * Tokenizers that DJL's binding of Hugging Face tokenizers carries out; the one package that needs
 * the optional dependency {@code ai.djl.huggingface:tokenizers}.
 */
@NullMarked
package dev.warmpath.prompt.tokenizer.internal.djl;

import org.jspecify.annotations.NullMarked;
