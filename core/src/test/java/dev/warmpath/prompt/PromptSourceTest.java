package dev.warmpath.prompt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.api.RouterRequest;
import dev.warmpath.hash.BlockChain;
import dev.warmpath.hash.ChainState;
import dev.warmpath.hash.HashParams;
import dev.warmpath.hash.HashSchemes;
import dev.warmpath.hash.Retention;
import dev.warmpath.transport.PromptTokens;
import dev.warmpath.transport.TokenDecoder;
import org.junit.jupiter.api.Test;

class PromptSourceTest {
  private static BlockChain chain(int blockTokens) {
    return HashSchemes.content(HashParams.builder().blockSize(blockTokens).model("m").build())
        .newChain(Retention.REPORTED);
  }

  private static RouterRequest request(String body) {
    return RouterRequest.completions(body);
  }

  @Test
  void aPromptOfTokensHasBlocksAndCountsButIsNoEnginesOwn() {
    BlockChain chain = chain(16).append(new int[40]);
    Prompt prompt = Prompt.ofTokens("m", true, chain.state());

    assertThat(prompt.tokens()).isEqualTo(40);
    assertThat(prompt.blocks()).isNotNull();
    assertThat(prompt.blocks().size()).isEqualTo(2);
    assertThat(prompt.exactness()).isEqualTo(Exactness.ESTIMATED);
    assertThat(prompt.single()).isTrue();
    assertThat(prompt.model()).isEqualTo("m");
    assertThat(prompt.stream()).isTrue();
    assertThat(prompt.blocksWith("an answer")).isNull();
  }

  @Test
  void tokensThatTheApplicationGivesAreWhatTransportsSend() {
    PromptTokens tokens = new Counted(40);
    ChainState chain = chain(16).append(new int[40]).state();

    assertThat(Prompt.ofTokens("m", true, chain).transportTokens()).isNull();
    Prompt prompt = Prompt.ofTokens("m", true, chain, tokens);
    assertThat(prompt.transportTokens()).isSameAs(tokens);
    assertThat(prompt.exactness()).isEqualTo(Exactness.ESTIMATED);
    assertThatThrownBy(() -> Prompt.ofTokens("m", true, chain, new Counted(39)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("40")
        .hasMessageContaining("39");
  }

  /** So many tokens. */
  private record Counted(int size) implements PromptTokens {
    @Override
    public int[] ids() {
      return new int[size];
    }

    @Override
    public TokenDecoder decoder(boolean skipSpecialTokens) {
      throw new UnsupportedOperationException();
    }

    @Override
    public String text(int id) {
      return "";
    }
  }

  @Test
  void otherBlockSizesAreRefusedWithTheOneToUse() {
    assertThatThrownBy(() -> Prompt.ofTokens("m", false, chain(64).state()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("by 16");
  }

  @Test
  void theSourceComesFirstAndTheBodyWhereItKnowsNothing() {
    Prompt known = Prompt.ofTokens("m", false, chain(16).append(new int[16]).state());
    PromptReader reader =
        PromptReader.builder()
            .source(request -> request.headers().get("x-known") == null ? null : known)
            .build();

    assertThat(reader.tokenizes()).isTrue();
    assertThat(reader.read(request("not json").toBuilder().header("x-known", "1").build()))
        .isSameAs(known);
    Prompt read = reader.read(request("{\"model\":\"other\",\"prompt\":\"text\"}"));
    assertThat(read.model()).isEqualTo("other");
    assertThat(read.blocks()).isNull();
  }
}
