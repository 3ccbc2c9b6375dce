package dev.warmpath.prompt;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.api.Usage;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UsageReaderTest {
  private final UsageReader reader = new UsageReader();

  private Usage read(String json) {
    return reader.read(json.getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void readsChatCompletions() {
    assertThat(
            read(
                "{\"choices\":[{\"message\":{\"content\":\"\\\"usage\\\"\"}}],\"usage\":{\"prompt_tokens\":9,"
                    + "\"completion_tokens\":2,\"prompt_tokens_details\":{\"cached_tokens\":8}}}"))
        .isEqualTo(new Usage(9, 8, 2));
  }

  @Test
  void readsTheResponsesApi() {
    assertThat(
            read(
                "{\"type\":\"response.completed\",\"response\":{\"usage\":{\"input_tokens\":5,\"output_tokens\":1,"
                    + "\"input_tokens_details\":{\"cached_tokens\":4}}}}"))
        .isEqualTo(new Usage(5, 4, 1));
  }

  @Test
  void readsSglangsOwnEndpoint() {
    assertThat(
            read(
                "{\"meta_info\":{\"prompt_tokens\":3,\"completion_tokens\":1,\"cached_tokens\":2}}"))
        .isEqualTo(new Usage(3, 2, 1));
  }

  @Test
  void takesMissingCachedTokensForUnknown() {
    assertThat(read("{\"usage\":{\"prompt_tokens\":9,\"prompt_tokens_details\":null}}"))
        .isEqualTo(new Usage(9, null, null));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "text", "[1]", "{\"usage\":null}", "{\"usage\":{\"prompt_tokens\":1", "{}"})
  void reportsNothingOfWhatItCannotRead(String json) {
    assertThat(read(json)).isNull();
  }

  @Test
  void looksIntoEventsThatMentionUsageOnly() {
    assertThat(reader.readEvent("{\"choices\":[]}")).isNull();
    assertThat(reader.readEvent("{\"choices\":[],\"usage\":{\"prompt_tokens\":1}}"))
        .isEqualTo(new Usage(1, null, null));
  }
}
