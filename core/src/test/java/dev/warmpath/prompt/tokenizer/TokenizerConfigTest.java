package dev.warmpath.prompt.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code tokenizer_config.json} adds, and what makes loading fail. */
class TokenizerConfigTest {
  @TempDir Path folder;

  @BeforeEach
  void copyTokenizer() throws IOException {
    Files.copy(
        TokenizerTest.resource("llama").resolve("tokenizer.json"),
        folder.resolve("tokenizer.json"));
  }

  @Test
  void goesWithoutAConfiguration() {
    assertThat(Tokenizers.load(folder).prefixTokens()).containsExactly(1);
    assertThat(Tokenizers.load(folder.resolve("tokenizer.json")).prefixTokens()).containsExactly(1);
  }

  @Test
  void someClassesDecideWhichTokensStandAroundAText() throws IOException {
    configure(
        "{'tokenizer_class':'LlamaTokenizerFast','add_bos_token':false,'add_eos_token':true,'eos_token':'</s>'}");
    Tokenizer tokenizer = Tokenizers.load(folder);
    assertThat(tokenizer.prefixTokens()).isEmpty();
    assertThat(tokenizer.suffixTokens()).containsExactly(2);
    assertThat(tokenizer.encode("a", true)).endsWith(2);

    configure("{'tokenizer_class':'LlamaTokenizer','bos_token':{'content':'</s>'}}");
    assertThat(Tokenizers.load(folder).prefixTokens()).containsExactly(2);
  }

  @Test
  void otherClassesLeaveThePostProcessorAlone() throws IOException {
    configure("{'tokenizer_class':'PreTrainedTokenizerFast','add_bos_token':false}");
    assertThat(Tokenizers.load(folder).prefixTokens()).containsExactly(1);
  }

  @Test
  void addsTokensThatOnlyTheConfigurationNames() throws IOException {
    configure(
        "{'added_tokens_decoder':{'600':{'content':'<tool>','lstrip':false,'normalized':false,'rstrip':true,'single_word':false,'special':false}},"
            + "'additional_special_tokens':['<a>','<s>'],'pad_token':'<pad>'}");
    Tokenizer tokenizer = Tokenizers.load(folder);
    assertThat(tokenizer.addedTokens())
        .extracting(AddedToken::content)
        .containsExactly("<unk>", "<s>", "</s>", "<tool>", "<pad>", "<a>");
    assertThat(tokenizer.encode("<tool>  <a><pad>", false)).containsExactly(600, 602, 601);
    assertThat(tokenizer.decode(new int[] {600, 602, 601}, true)).isEqualTo("<tool>");
  }

  @Test
  void specialTokensInATextMayCountAsPlainText() throws IOException {
    configure("{'split_special_tokens':true}");
    Tokenizer tokenizer = Tokenizers.load(folder);
    assertThat(tokenizer.encode("<s>", false)).doesNotContain(1).hasSizeGreaterThan(1);
  }

  @Test
  void failsWithAClearMessage() throws IOException {
    assertThatThrownBy(() -> Tokenizers.load(folder.resolve("nowhere")))
        .isInstanceOf(TokenizerLoadException.class)
        .hasMessageContaining("nowhere");
    String json = Files.readString(folder.resolve("tokenizer.json"));
    refuses(json.substring(0, json.length() / 2), "Broken JSON");
    refuses("[]", "no JSON object");
    refuses(json.replace("\"type\": \"Prepend\"", "\"type\": \"Precompiled\""), "Precompiled");
    refuses(json.replace("\"type\": \"BPE\"", "\"type\": \"Mystery\""), "Mystery");
    refuses(json.replace("\"dropout\": null", "\"dropout\": 0.1"), "dropout");
    refuses(json.replace("\"type\": \"Fuse\"", "\"type\": \"CTC\""), "CTC");
    refuses(
        json.replace(
            "\"pre_tokenizer\": null", "\"pre_tokenizer\": {\"type\": \"UnicodeScripts\"}"),
        "UnicodeScripts");
    refuses(
        json.replace("\"String\": \" \"", "\"Regex\": \"(a)\\\\1\""),
        "Unsupported regular expression");
    refuses(json.replace("\"merges\": [", "\"merges\": [[\"zz\", \"zz\"],"), "zz");
  }

  private void refuses(String json, String reason) throws IOException {
    Files.writeString(folder.resolve("tokenizer.json"), json);
    assertThatThrownBy(() -> Tokenizers.load(folder))
        .isInstanceOf(TokenizerLoadException.class)
        .hasMessageContaining("tokenizer.json")
        .hasMessageContaining(reason);
  }

  private void configure(String config) throws IOException {
    Files.writeString(folder.resolve("tokenizer_config.json"), config.replace('\'', '"'));
  }
}
