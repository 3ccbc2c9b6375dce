package dev.warmpath.worker;

import org.jspecify.annotations.Nullable;

/**
 * One model name a worker answers to, as its {@code /v1/models} lists it.
 *
 * @param id the name a request's {@code model} carries
 * @param root the model path behind the name, or null where the engine does not say
 * @param parent the base model's name when this is a LoRA adapter, else null
 * @param maxModelLen the longest context in tokens, or null where the engine does not say
 */
public record ServedModel(
    String id, @Nullable String root, @Nullable String parent, @Nullable Integer maxModelLen) {

  /** A base model of which only the name is known. */
  public static ServedModel named(String id) {
    return new ServedModel(id, null, null, null);
  }

  /** Whether this is a LoRA adapter. */
  public boolean adapter() {
    return parent != null;
  }
}
