/**
 * From an OpenAI body to a {@link dev.warmpath.prompt.Prompt}: what is compared with what workers
 * hold, parsed once.
 */
@NullMarked
package dev.warmpath.prompt;

import org.jspecify.annotations.NullMarked;
