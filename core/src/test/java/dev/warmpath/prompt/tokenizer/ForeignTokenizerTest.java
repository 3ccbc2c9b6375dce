package dev.warmpath.prompt.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;

import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Models that DJL carries out, behind the same interface. */
class ForeignTokenizerTest {
  @TempDir Path folder;

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'version':'1.0','added_tokens':[{'id':0,'content':'[UNK]','single_word':false,'lstrip':false,'rstrip':false,'normalized':false,'special':true},{'id':1,'content':'[CLS]','single_word':false,'lstrip':false,'rstrip':false,'normalized':false,'special':true},{'id':2,'content':'[SEP]','single_word':false,'lstrip':false,'rstrip':false,'normalized':false,'special':true}],"
            + "'normalizer':{'type':'Lowercase'},'pre_tokenizer':{'type':'BertPreTokenizer'},"
            + "'post_processor':{'type':'BertProcessing','sep':['[SEP]',2],'cls':['[CLS]',1]},"
            + "'decoder':{'type':'WordPiece','prefix':'##','cleanup':true},"
            + "'model':{'type':'WordPiece','unk_token':'[UNK]','continuing_subword_prefix':'##','max_input_chars_per_word':100,'vocab':{'[UNK]':0,'[CLS]':1,'[SEP]':2,'hello':3,'wor':4,'##ld':5,',':6,'a':7,'##b':8}}}",
        "{'version':'1.0','added_tokens':[{'id':0,'content':'<unk>','single_word':false,'lstrip':false,'rstrip':false,'normalized':false,'special':true}],"
            + "'pre_tokenizer':{'type':'Metaspace','replacement':'▁','prepend_scheme':'always','split':true},"
            + "'decoder':{'type':'Metaspace','replacement':'▁','prepend_scheme':'always','split':true},"
            + "'model':{'type':'Unigram','unk_id':0,'vocab':[['<unk>',0.0],['▁',-2.0],['▁hello',-3.0],['world',-3.0],['▁a',-4.0],['b',-4.0],[',',-5.0]]}}"
      })
  void isWhatTheReferenceIs(String json) throws IOException {
    Path file = folder.resolve("tokenizer.json");
    Files.writeString(file, json.replace('\'', '"'));
    Tokenizer tokenizer = Tokenizers.load(folder);
    try (HuggingFaceTokenizer reference =
        HuggingFaceTokenizer.builder()
            .optTokenizerPath(file)
            .optTruncation(false)
            .optPadding(false)
            .build()) {
      String longText = "hello, world ab ".repeat(2_000);
      for (String text :
          new String[] {"", "hello, world", "ab Hello", "zz [SEP] hello", "world,b", longText}) {
        int[] ids = tokenizer.encode(text, true);
        long[] expected = reference.encode(text).getIds();
        assertThat(ids).isEqualTo(Arrays.stream(expected).mapToInt(Math::toIntExact).toArray());
        assertThat(tokenizer.decode(ids, true)).isEqualTo(reference.decode(expected, true));
        assertThat(tokenizer.decode(ids, false)).isEqualTo(reference.decode(expected, false));
      }
      assertThat(tokenizer.encode(longText, true)).hasSizeGreaterThan(8_000);
    }
    assertThat(tokenizer.tokenId("hello").isPresent() || tokenizer.tokenId("▁hello").isPresent())
        .isTrue();
    assertThat(tokenizer.token(0)).isEqualTo(tokenizer.addedTokens().get(0).content());
  }
}
