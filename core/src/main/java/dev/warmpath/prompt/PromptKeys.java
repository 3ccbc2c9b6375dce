package dev.warmpath.prompt;

import dev.warmpath.hash.HashParams;
import org.jspecify.annotations.Nullable;

/**
 * What separates prompts from each other that share nothing, whatever their text.
 *
 * @param model the base model's name in the request, or null
 * @param adapter the LoRA adapter's name, or null
 * @param cacheSalt the request's salt, or null
 * @param extraKey the request's extra key, or null
 */
record PromptKeys(
    @Nullable String model,
    @Nullable String adapter,
    @Nullable String cacheSalt,
    @Nullable String extraKey) {
  static final PromptKeys NONE = new PromptKeys(null, null, null, null);

  /** The keys as hash schemes take them. */
  HashParams params() {
    return HashParams.builder()
        .model(model)
        .loraName(adapter)
        .cacheSalt(cacheSalt)
        .extraKey(extraKey)
        .build();
  }

  /** One text for all of it, never the same for different ones. */
  String namespace() {
    String name = model == null ? "" : model;
    if (adapter == null && cacheSalt == null && extraKey == null) {
      return name;
    }
    StringBuilder full = new StringBuilder(name);
    for (String part : new @Nullable String[] {adapter, cacheSalt, extraKey}) {
      full.append('\0').append(part == null ? -1 : part.length()).append(':');
      full.append(part == null ? "" : part);
    }
    return full.toString();
  }

  /** Sizes only: a salt is a secret of its tenant. */
  @Override
  public String toString() {
    return "PromptKeys["
        + (adapter == null ? "" : "adapter ")
        + (cacheSalt == null ? "" : "salt ")
        + (extraKey == null ? "" : "extra key")
        + "]";
  }
}
