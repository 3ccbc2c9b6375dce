package dev.warmpath.prompt.tokenizer;

import dev.warmpath.transport.TokenDecoder;

/**
 * Turns token ids into text as they arrive: all pieces together equal {@link Tokenizer#decode} of
 * all ids.
 */
public interface Detokenizer extends TokenDecoder {}
