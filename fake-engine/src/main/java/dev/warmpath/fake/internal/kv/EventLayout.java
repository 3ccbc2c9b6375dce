package dev.warmpath.fake.internal.kv;

import dev.warmpath.fake.kv.KvEventEncoding;
import dev.warmpath.fake.kv.KvEventSettings;
import dev.warmpath.worker.EngineKind;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the events of an engine's version look like.
 *
 * @param kind the engine
 * @param encoding how an event is laid out
 * @param integerHashes whether hashes are integers rather than digests
 * @param medium whether events name a medium (vLLM from 0.11)
 * @param loraName whether stored blocks name their adapter (vLLM from 0.12)
 * @param extraKeys whether stored blocks carry their extra keys (vLLM from 0.16)
 * @param salt whether stored blocks of salted requests carry the salt (SGLang from 0.5.18)
 */
record EventLayout(
    EngineKind kind,
    KvEventEncoding encoding,
    boolean integerHashes,
    boolean medium,
    boolean loraName,
    boolean extraKeys,
    boolean salt) {
  private static final Pattern VERSION =
      Pattern.compile("v?(\\d{1,4})\\.(\\d{1,4})(?:\\.(\\d{1,4}))?.*");

  static EventLayout of(EngineKind kind, String version, KvEventSettings settings) {
    boolean sglang = kind == EngineKind.SGLANG;
    boolean vllm = kind == EngineKind.VLLM;
    boolean maps = (sglang && from(version, 0, 5, 20)) || (vllm && from(version, 0, 24, 0));
    KvEventEncoding encoding = settings.encoding();
    return new EventLayout(
        kind,
        encoding != null ? encoding : maps ? KvEventEncoding.MAPS : KvEventEncoding.ARRAYS,
        settings.integerHashes() || !vllm,
        !vllm || from(version, 0, 11, 0),
        vllm && from(version, 0, 12, 0),
        vllm && from(version, 0, 16, 0),
        sglang && from(version, 0, 5, 18));
  }

  /** Whether a version is this one or a later one; what can't be read counts as late. */
  private static boolean from(String version, int major, int minor, int patch) {
    Matcher matcher = VERSION.matcher(version);
    if (!matcher.matches()) {
      return true;
    }
    int[] wanted = {major, minor, patch};
    for (int i = 0; i < wanted.length; i++) {
      String part = matcher.group(i + 1);
      int has = part == null ? 0 : Integer.parseInt(part);
      if (has != wanted[i]) {
        return has > wanted[i];
      }
    }
    return true;
  }
}
