package dev.warmpath.hash;

/**
 * What some schemes hash along with the tokens of a block. Added to a {@link BlockChain} before the
 * tokens that it concerns; schemes that do not hash it ignore it, as their engines do.
 */
public sealed interface BlockExtra permits MultimodalItem, PromptEmbeds, ExtraKeys {}
