package dev.warmpath.fake.internal.kv;

import dev.warmpath.hash.HashParams;

/**
 * What a request separates its cache by, besides its tokens.
 *
 * @param lora the adapter's name, or empty
 * @param salt the cache salt, or empty
 * @param extraKey the extra key, or empty
 */
public record RequestKeys(String lora, String salt, String extraKey) {
  /** Of requests without any. */
  static final RequestKeys NONE = new RequestKeys("", "", "");

  void apply(HashParams.Builder params) {
    params.loraName(lora).cacheSalt(salt).extraKey(extraKey);
  }

  /** Nothing of the texts. */
  @Override
  public String toString() {
    return "RequestKeys" + (equals(NONE) ? "[]" : "[...]");
  }
}
