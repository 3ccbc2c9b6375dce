package dev.warmpath.prompt.tokenizer;

/**
 * A token that is cut out of the text before anything else looks at it, such as {@code
 * <|im_start|>}.
 *
 * @param id its token id
 * @param content the text that it stands for
 * @param special whether decoding leaves it out on request
 * @param singleWord whether it counts only between characters that are no word characters
 * @param leftStrip whether it swallows the white space before it
 * @param rightStrip whether it swallows the white space after it
 * @param normalized whether it is looked for in the normalized text rather than in the text as
 *     given
 */
public record AddedToken(
    int id,
    String content,
    boolean special,
    boolean singleWord,
    boolean leftStrip,
    boolean rightStrip,
    boolean normalized) {}
