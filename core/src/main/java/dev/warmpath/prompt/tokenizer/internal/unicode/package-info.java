/**
 * Character data of one fixed Unicode version, UTF-8 scanning, normalization and the translation of
 * Oniguruma's regular expressions: what makes token boundaries the same on every JDK.
 */
@NullMarked
package dev.warmpath.prompt.tokenizer.internal.unicode;

import org.jspecify.annotations.NullMarked;
