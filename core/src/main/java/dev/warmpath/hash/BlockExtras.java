package dev.warmpath.hash;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** The extras of one block. */
record BlockExtras(
    List<MultimodalItem> items, @Nullable PromptEmbeds embeds, @Nullable ExtraKeys keys) {}
