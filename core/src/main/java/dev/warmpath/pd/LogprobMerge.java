package dev.warmpath.pd;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Puts the log-probabilities of the prompt's tokens, which prefill computed, before those that
 * decode knows: SGLang's {@code meta_info.input_token_logprobs}, in every event that has the field.
 * Immutable.
 */
final class LogprobMerge {
  private static final String META = "meta_info";
  private static final String LOGPROBS = "input_token_logprobs";

  private final byte[] prefill;

  private LogprobMerge(byte[] prefill) {
    this.prefill = prefill;
  }

  /** What prefill's answer (or the last event of it) has to give; null for nothing. */
  static @Nullable LogprobMerge of(byte[] answer) {
    byte[] logprobs = logprobs(JsonFields.find(answer));
    return logprobs == null ? null : new LogprobMerge(logprobs);
  }

  private static byte @Nullable [] logprobs(@Nullable JsonFields answer) {
    byte[] meta = answer == null ? null : answer.raw(META);
    JsonFields fields = meta == null ? null : JsonFields.find(meta);
    byte[] array = fields == null ? null : fields.raw(LOGPROBS);
    return array != null && array[0] == '[' ? array : null;
  }

  /** Decode's answer with prefill's part in front; the very same where it has no such field. */
  byte[] merged(byte[] answer) {
    JsonFields fields = JsonFields.find(answer);
    byte[] own = logprobs(fields);
    if (fields == null || own == null) {
      return answer;
    }
    byte[] meta = java.util.Objects.requireNonNull(fields.raw(META));
    JsonFields metaFields = java.util.Objects.requireNonNull(JsonFields.find(meta));
    byte[] merged =
        metaFields.edit(Set.of(LOGPROBS), new JsonFields.Added().raw(LOGPROBS, joined(own)));
    return fields.edit(Set.of(META), new JsonFields.Added().raw(META, merged));
  }

  /** The same for one event of a stream. */
  String merged(String event) {
    return event.contains(LOGPROBS)
        ? new String(merged(event.getBytes(StandardCharsets.UTF_8)), StandardCharsets.UTF_8)
        : event;
  }

  private byte[] joined(byte[] own) {
    boolean empty = bare(own).isEmpty();
    boolean nothing = bare(prefill).isEmpty();
    if (nothing) {
      return own;
    }
    if (empty) {
      return prefill;
    }
    ByteArrayOutputStream out = new ByteArrayOutputStream(prefill.length + own.length);
    out.write(prefill, 0, prefill.length - 1);
    out.write(',');
    out.write(own, 1, own.length - 1);
    return out.toByteArray();
  }

  private static String bare(byte[] array) {
    return new String(array, 1, array.length - 2, StandardCharsets.UTF_8).strip();
  }
}
