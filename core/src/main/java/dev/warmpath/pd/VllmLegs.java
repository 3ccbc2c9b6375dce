package dev.warmpath.pd;

import dev.warmpath.api.Headers;
import java.util.Set;

/** vLLM's connectors: ranks in a header, and prefill made to end by length, never by a stop. */
abstract class VllmLegs extends OpenAiLegs {
  private static final String RANK = "X-data-parallel-rank";

  private static final Set<String> SAMPLING =
      Set.of("n", "stop", "stop_token_ids", "ignore_eos", "max_output_tokens");

  VllmLegs(String name, PdShape shape) {
    super(name, shape);
  }

  @Override
  Set<String> replaced() {
    return SAMPLING;
  }

  /** Only a prefill that ended by length hands anything over. */
  @Override
  void sampling(JsonFields.Added added) {
    added.number("n", 1).number("min_tokens", 0).raw("ignore_eos", "true");
  }

  @Override
  Headers ranked(int rank, Headers headers, JsonFields.Added added) {
    Headers out = headers.without(RANK);
    return rank < 0 ? out : out.with(RANK, Integer.toString(rank));
  }

  /** The two flags that say which side a leg is. */
  static JsonFields.Added side(boolean decode) {
    return new JsonFields.Added()
        .raw("do_remote_decode", Boolean.toString(!decode))
        .raw("do_remote_prefill", Boolean.toString(decode));
  }

  /** The flags, and the remote end that prefill does not know. */
  static JsonFields.Added producer() {
    return side(false)
        .raw("remote_engine_id", "null")
        .raw("remote_block_ids", "null")
        .raw("remote_host", "null")
        .raw("remote_port", "null");
  }
}
