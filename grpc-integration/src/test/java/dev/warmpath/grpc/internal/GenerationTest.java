package dev.warmpath.grpc.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.api.RouterRequest;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GenerationTest {
  private static Generation chat(String fields) throws InexpressibleException {
    return Generation.read(
        RouterRequest.CHAT_COMPLETIONS + "?trace=1",
        ("{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]" + fields + "}")
            .getBytes(StandardCharsets.UTF_8));
  }

  private static Generation completion(String fields) throws InexpressibleException {
    return Generation.read(
        RouterRequest.COMPLETIONS,
        ("{\"model\":\"m\",\"prompt\":\"hi\"" + fields + "}").getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void readsEveryParameter() throws Exception {
    Generation read =
        chat(
            ",\"stream\":true,\"stream_options\":{\"include_usage\":true},\"temperature\":0.25,"
                + "\"top_p\":0.5,\"top_k\":7,\"min_p\":0.125,\"frequency_penalty\":0.5,"
                + "\"presence_penalty\":-0.5,\"repetition_penalty\":1.5,"
                + "\"max_tokens\":9,\"max_completion_tokens\":10,\"min_tokens\":2,"
                + "\"stop\":[\"a\",\"b\"],\"stop_token_ids\":[3,4],\"skip_special_tokens\":false,"
                + "\"n\":2,\"ignore_eos\":true,\"include_stop_str_in_output\":true,\"seed\":11,"
                + "\"logit_bias\":{\"5\":-100},\"logprobs\":true,\"top_logprobs\":3,"
                + "\"cache_salt\":\"s\",\"priority\":1,\"user\":\"u\",\"tool_choice\":\"auto\"");
    assertThat(read.chat()).isTrue();
    assertThat(read.model()).isEqualTo("m");
    assertThat(read.stream()).isTrue();
    assertThat(read.includeUsage()).isTrue();
    assertThat(read.topLogprobs()).isEqualTo(3);
    assertThat(read.cacheSalt()).isEqualTo("s");
    assertThat(read.priority()).isEqualTo(1);
    assertThat(read.sampling())
        .isEqualTo(
            new Sampling(
                0.25,
                0.5,
                7,
                0.125,
                0.5,
                -0.5,
                1.5,
                10,
                2,
                List.of("a", "b"),
                List.of(3, 4),
                false,
                true,
                2,
                true,
                true,
                11L,
                Map.of(5, -100f),
                null));
  }

  @Test
  void whatIsLeftOutIsNeutral() throws Exception {
    Sampling sampling = chat("").sampling();
    SamplingDefaults neutral = SamplingDefaults.NEUTRAL;
    assertThat(sampling.temperature(neutral)).isEqualTo(1);
    assertThat(sampling.topP(neutral)).isEqualTo(1);
    assertThat(sampling.topK(neutral)).isEqualTo(-1);
    assertThat(sampling.minP(neutral)).isZero();
    assertThat(sampling.repetitionPenalty(neutral)).isEqualTo(1);
    assertThat(sampling.n()).isEqualTo(1);
    assertThat(sampling.skipSpecialTokens()).isTrue();
  }

  @Test
  void theModelsOwnDefaultsStandInForWhatIsLeftOut() throws Exception {
    SamplingDefaults own =
        SamplingDefaults.read("{\"temperature\":0.6,\"top_k\":20,\"max_new_tokens\":100}");
    Sampling sampling = chat(",\"top_k\":5").sampling();
    assertThat(sampling.temperature(own)).isEqualTo(0.6);
    assertThat(sampling.topK(own)).isEqualTo(5);
    ModelFacts facts = new ModelFacts(1_000, Set.of(), own);
    assertThat(chat("").maxTokens(facts, 950)).isEqualTo(50);
    assertThat(chat("").maxTokens(facts, 10)).isEqualTo(100);
    assertThat(SamplingDefaults.read("no json")).isEqualTo(SamplingDefaults.NEUTRAL);
  }

  @Test
  void theLimitIsAsOverHttp() throws Exception {
    ModelFacts facts = new ModelFacts(100, Set.of(), SamplingDefaults.NEUTRAL);
    assertThat(chat("").maxTokens(facts, 40)).isEqualTo(60);
    assertThat(chat(",\"max_tokens\":7").maxTokens(facts, 40)).isEqualTo(7);
    assertThat(chat("").maxTokens(ModelFacts.UNKNOWN, 40)).isNull();
    assertThat(completion("").maxTokens(facts, 40)).isEqualTo(16);
  }

  @Test
  void readsConstraintsOfAllDialects() throws Exception {
    assertThat(
            chat(",\"response_format\":{\"type\":\"json_schema\",\"json_schema\":"
                    + "{\"name\":\"n\",\"schema\":{\"type\":\"object\"}}}")
                .sampling()
                .constraint())
        .isEqualTo(new Constraint(Constraint.Kind.JSON_SCHEMA, "{\"type\":\"object\"}", List.of()));
    assertThat(
            chat(",\"response_format\":{\"type\":\"json_object\"}").sampling().constraint().kind())
        .isEqualTo(Constraint.Kind.JSON_OBJECT);
    assertThat(chat(",\"response_format\":{\"type\":\"text\"}").sampling().constraint()).isNull();
    assertThat(chat(",\"guided_choice\":[\"a\",\"b\"]").sampling().constraint().choices())
        .containsExactly("a", "b");
    assertThat(chat(",\"structured_outputs\":{\"regex\":\"a+\"}").sampling().constraint().value())
        .isEqualTo("a+");
    assertThat(chat(",\"ebnf\":\"root ::= x\"").sampling().constraint().kind())
        .isEqualTo(Constraint.Kind.GRAMMAR);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        ",\"logits_processors\":[\"x\"]",
        ",\"audio\":{\"voice\":\"x\"}",
        ",\"tool_choice\":\"required\"",
        ",\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":\"f\"}}",
        ",\"temperature\":\"hot\"",
        ",\"max_tokens\":1.5",
        ",\"max_tokens\":0",
        ",\"n\":0",
        ",\"stop\":[\"\"]",
        ",\"stop\":[1]",
        ",\"logit_bias\":{\"x\":1}",
        ",\"stream\":\"yes\"",
        ",\"stream_options\":{\"continuous_usage_stats\":true}",
        ",\"response_format\":{\"type\":\"xml\"}",
        ",\"regex\":\"a\",\"ebnf\":\"b\"",
        ",\"echo\":true",
        ",\"best_of\":3"
      })
  void whatCannotBeCarriedIsRefused(String fields) {
    assertThatThrownBy(() -> chat(fields)).isInstanceOf(InexpressibleException.class);
  }

  @Test
  void anUnknownFieldIsNamed() {
    assertThatThrownBy(() -> chat(",\"logits_processors\":[]"))
        .hasMessageContaining("'logits_processors'")
        .hasMessageContaining("HTTP worker");
  }

  @Test
  void otherPathsAreRefused() {
    assertThatThrownBy(() -> Generation.read("/v1/embeddings", new byte[0]))
        .hasMessageContaining("/v1/embeddings needs an HTTP worker");
  }
}
