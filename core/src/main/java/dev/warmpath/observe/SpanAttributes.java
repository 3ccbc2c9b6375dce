package dev.warmpath.observe;

import io.opentelemetry.api.common.AttributeKey;

/**
 * The attributes of the client's spans. Those of {@code gen_ai}, {@code server}, {@code http} and
 * {@code error} are OpenTelemetry's semantic conventions.
 */
final class SpanAttributes {
  static final AttributeKey<String> OPERATION = AttributeKey.stringKey("gen_ai.operation.name");
  static final AttributeKey<String> PROVIDER = AttributeKey.stringKey("gen_ai.provider.name");
  static final AttributeKey<String> MODEL = AttributeKey.stringKey("gen_ai.request.model");
  static final AttributeKey<Boolean> STREAM = AttributeKey.booleanKey("gen_ai.request.stream");
  static final AttributeKey<Long> INPUT_TOKENS = AttributeKey.longKey("gen_ai.usage.input_tokens");
  static final AttributeKey<Long> OUTPUT_TOKENS =
      AttributeKey.longKey("gen_ai.usage.output_tokens");
  static final AttributeKey<Long> CACHED_TOKENS =
      AttributeKey.longKey("gen_ai.usage.cache_read.input_tokens");
  static final AttributeKey<String> SERVER = AttributeKey.stringKey("server.address");
  static final AttributeKey<Long> PORT = AttributeKey.longKey("server.port");
  static final AttributeKey<Long> STATUS = AttributeKey.longKey("http.response.status_code");
  static final AttributeKey<String> ERROR = AttributeKey.stringKey("error.type");

  static final AttributeKey<String> POLICY = AttributeKey.stringKey("warmpath.policy");
  static final AttributeKey<String> OUTCOME = AttributeKey.stringKey("warmpath.outcome");
  static final AttributeKey<String> WORKER = AttributeKey.stringKey("warmpath.worker");
  static final AttributeKey<String> ROLE = AttributeKey.stringKey("warmpath.role");
  static final AttributeKey<String> STEP = AttributeKey.stringKey("warmpath.step");
  static final AttributeKey<Long> ATTEMPT = AttributeKey.longKey("warmpath.attempt");
  static final AttributeKey<Long> ATTEMPTS = AttributeKey.longKey("warmpath.attempts");
  static final AttributeKey<Long> PROMPT_TOKENS = AttributeKey.longKey("warmpath.prompt.tokens");
  static final AttributeKey<String> EXACTNESS = AttributeKey.stringKey("warmpath.prompt.exactness");
  static final AttributeKey<Long> MATCHED_TOKENS = AttributeKey.longKey("warmpath.matched_tokens");
  static final AttributeKey<Double> QUEUE = AttributeKey.doubleKey("warmpath.queue_seconds");
  static final AttributeKey<Double> DECISION = AttributeKey.doubleKey("warmpath.decision_seconds");

  private SpanAttributes() {}
}
