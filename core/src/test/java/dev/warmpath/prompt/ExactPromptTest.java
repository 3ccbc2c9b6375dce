package dev.warmpath.prompt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.api.Usage;
import dev.warmpath.hash.BlockHashes;
import dev.warmpath.hash.HashSchemes;
import dev.warmpath.hash.NamespaceMismatchException;
import dev.warmpath.prompt.tokenizer.Tokenizer;
import dev.warmpath.prompt.tokenizer.Tokenizers;
import dev.warmpath.worker.EngineKind;
import java.lang.reflect.Proxy;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class ExactPromptTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Tokenizer TOKENIZER = Tokenizers.load(resource("chatml"));
  private static final String TEMPLATE =
      "{{ bos_token }}{% if tools %}{% for t in tools %}{{ t|tojson }};{% endfor %}{% endif %}"
          + "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}"
          + "{% if m.tool_calls %}{% for c in m.tool_calls %}"
          + "[{{ c.function.name }} {{ c.function.arguments.city }}]{% endfor %}{% endif %}"
          + "<|im_end|>\n{% endfor %}"
          + "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}{{ extra }}";
  private static final ModelFiles FILES =
      ModelFiles.of(TOKENIZER, TEMPLATE, Map.of("bos_token", "<s>"));

  private final PromptReader reader = reader(1 << 20);

  private static Path resource(String name) {
    try {
      return Path.of(
          Objects.requireNonNull(Tokenizers.class.getResource(name + "/tokenizer.json")).toURI());
    } catch (URISyntaxException e) {
      throw new AssertionError(e);
    }
  }

  private static PromptReader reader(long cacheBytes) {
    return PromptReader.builder().model("m", FILES).cacheBytes(cacheBytes).build();
  }

  private static PromptReader.Serving by(EngineKind... engines) {
    return model -> new PromptReader.Served(Set.of(engines), null);
  }

  private Prompt chat(EngineKind engine, String json) {
    return reader.read(RouterRequest.chatCompletions(json.replace('\'', '"')), by(engine));
  }

  private static String text(Prompt prompt) {
    return TOKENIZER.decode(Objects.requireNonNull(prompt.tokenIds()), false);
  }

  @ParameterizedTest
  @EnumSource(
      value = EngineKind.class,
      names = {"SGLANG", "VLLM", "ATOM", "UNKNOWN"})
  void aPlainChatIsExactForEveryEngine(EngineKind engine) {
    Prompt prompt =
        chat(
            engine,
            "{'model':'m','messages':[{'role':'user','content':'Hello there'}],"
                + "'chat_template_kwargs':{'extra':'!'}}");
    assertThat(prompt.exactness()).isEqualTo(Exactness.EXACT);
    assertThat(prompt.inexactReason()).isNull();
    String expected = "<s><|im_start|>user\nHello there<|im_end|>\n<|im_start|>assistant\n!";
    assertThat(prompt.tokenIds()).isEqualTo(TOKENIZER.encode(expected, false));
    assertThat(prompt.tokens()).isEqualTo(TOKENIZER.encode(expected, false).length);
    assertThat(prompt.byteLength()).isEqualTo(expected.length());
    assertThat(prompt.bytes()).isNotEmpty();
  }

  @ParameterizedTest
  @CsvSource({"VLLM, 'a\nb'", "SGLANG, 'a b'"})
  void enginesJoinPartsEachInItsWay(EngineKind engine, String joined) {
    Prompt prompt =
        chat(
            engine,
            "{'model':'m','messages':[{'role':'user','content':[{'type':'text','text':'a'},"
                + "{'type':'text','text':'b'}]}]}");
    assertThat(prompt.exactness()).isEqualTo(Exactness.EXACT);
    assertThat(text(prompt)).contains("user\n" + joined + "<|im_end|>");
  }

  @Test
  void whatEnginesLayOutDifferentlyIsNotExactForAMixedFleet() {
    String json =
        "{'model':'m','messages':[{'role':'user','content':[{'type':'text','text':'a'},"
            + "{'type':'text','text':'b'}]}]}";
    Prompt prompt =
        reader.read(
            RouterRequest.chatCompletions(json.replace('\'', '"')),
            by(EngineKind.VLLM, EngineKind.SGLANG));
    assertThat(prompt.exactness()).isEqualTo(Exactness.ESTIMATED);
    assertThat(prompt.inexactReason()).contains("differently");
    assertThat(prompt.blocks()).isNotNull();
    assertThatThrownBy(() -> prompt.engineBlocks(HashSchemes.byName("atom", prompt.hashKeys())))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void parsesArgumentsOfToolCalls() {
    String json =
        "{'model':'m','messages':[{'role':'user','content':'q'},{'role':'assistant','content':null,"
            + "'tool_calls':[{'id':'1','type':'function','function':{'name':'w',"
            + "'arguments':'{\\'city\\': \\'Rome\\'}'}}]},"
            + "{'role':'tool','tool_call_id':'1','content':'sun'}]}";
    String escaped = json.replace("\\'", "\\\"");
    for (EngineKind engine : List.of(EngineKind.VLLM, EngineKind.SGLANG)) {
      Prompt prompt = chat(engine, escaped);
      assertThat(prompt.exactness()).isEqualTo(Exactness.EXACT);
      assertThat(text(prompt)).contains("assistant\n[w Rome]<|im_end|>");
    }
    Prompt broken = chat(EngineKind.VLLM, json.replace("{\\'city\\': \\'Rome\\'}", "{"));
    assertThat(broken.exactness()).isEqualTo(Exactness.ESTIMATED);
    assertThat(broken.inexactReason()).contains("not JSON");
    assertThat(broken.blocks()).isNull();
    assertThat(broken.bytes()).isNotEmpty();
  }

  private static final String TOOLS =
      "'tools':[{'type':'function','function':{'name':'f','description':'d','parameters':{}}}]";

  @Test
  void vllmWritesToolsWithEveryFieldOfTheirs() {
    Prompt full =
        chat(
            EngineKind.VLLM,
            "{'model':'m'," + TOOLS + ",'messages':[{'role':'user','content':''}]}");
    assertThat(text(full))
        .startsWith(
            "<s>{\"type\": \"function\", \"function\": {\"name\": \"f\", \"description\": \"d\","
                + " \"parameters\": {}}};");
    Prompt sparse =
        chat(
            EngineKind.VLLM,
            "{'model':'m','tools':[{'function':{'strict':true,'name':'f'}}],"
                + "'messages':[{'role':'user','content':''}]}");
    assertThat(sparse.exactness()).isEqualTo(Exactness.EXACT);
    assertThat(text(sparse))
        .startsWith(
            "<s>{\"type\": \"function\", \"function\": {\"name\": \"f\", \"description\": null,"
                + " \"parameters\": null, \"strict\": true}};");
  }

  @Test
  void learnsHowSglangWritesToolsFromItsTokenCounts() {
    String json = "{'model':'m'," + TOOLS + ",'messages':[{'role':'user','content':'x'}]}";
    Prompt first = chat(EngineKind.SGLANG, json);
    assertThat(first.exactness()).isEqualTo(Exactness.ESTIMATED);
    assertThat(first.inexactReason()).contains("not confirmed");
    assertThat(first.blocks()).isNotNull();
    reader.reported(first, EngineKind.SGLANG, new Usage(first.tokens() + 1, null, null));
    assertThat(chat(EngineKind.SGLANG, json).exactness()).isEqualTo(Exactness.ESTIMATED);

    String dumped =
        "<s>{\"type\": \"function\", \"function\": {\"description\": \"d\", \"name\": \"f\","
            + " \"parameters\": {}, \"strict\": false}};<|im_start|>user\nx<|im_end|>\n"
            + "<|im_start|>assistant\n";
    int counted = TOKENIZER.encode(dumped, false).length;
    reader.reported(first, EngineKind.SGLANG, new Usage(counted, null, null));
    Prompt second = chat(EngineKind.SGLANG, json);
    assertThat(second.exactness()).isEqualTo(Exactness.EXACT);
    assertThat(text(second)).isEqualTo(dumped);

    // A fleet that was changed to another version.
    reader.reported(second, EngineKind.SGLANG, new Usage(first.tokens(), null, null));
    Prompt third = chat(EngineKind.SGLANG, json);
    assertThat(third.tokenIds()).isEqualTo(first.tokenIds());
    assertThat(third.exactness()).isEqualTo(Exactness.EXACT);
  }

  @Test
  void aTurnContinuesThePromptBeforeIt() {
    // Ends so far into a block that its last words are in there, too.
    String asked =
        IntStream.range(20, 52)
            .mapToObj(
                n -> "'messages':[{'role':'user','content':'" + "so it goes ".repeat(n) + "'}")
            .filter(m -> chat(EngineKind.VLLM, "{'model':'m'," + m + "]}").tokens() % 16 >= 12)
            .findFirst()
            .orElseThrow();
    String more = asked + ",{'role':'assistant','content':'y'},{'role':'user','content':'z'}";
    Prompt first = chat(EngineKind.VLLM, "{'model':'m'," + asked + "]}");
    Prompt next = chat(EngineKind.VLLM, "{'model':'m'," + more + "]}");
    assertThat(next.continues(first)).isTrue();
    assertThat(first.continues(first)).isFalse();
    assertThat(first.continues(next)).isFalse();
    assertThat(chat(EngineKind.VLLM, "{'model':'m','cache_salt':'s'," + more + "]}"))
        .satisfies(salted -> assertThat(salted.continues(first)).isFalse());
    // As many full blocks in common, and another end.
    Prompt other =
        chat(
            EngineKind.VLLM, "{'model':'m'," + more.replace("so it goes '", "so it went '") + "]}");
    assertThat(other.blocks().commonPrefix(first.blocks())).isEqualTo(first.blocks().size());
    assertThat(other.continues(first)).isFalse();

    String json = "{'model':'m'," + TOOLS + ",'messages':[{'role':'user','content':'x'}]}";
    Prompt tools = chat(EngineKind.SGLANG, json);
    assertThat(tools.rendersToolsLike(chat(EngineKind.SGLANG, json))).isTrue();
    assertThat(tools.rendersToolsLike(first)).isFalse();
  }

  @Test
  void learnsNothingFromTheCountsOfOtherEngines() {
    String json = "{'model':'m'," + TOOLS + ",'messages':[{'role':'user','content':'x'}]}";
    Prompt first = chat(EngineKind.SGLANG, json);
    reader.reported(first, EngineKind.VLLM, new Usage(first.tokens(), null, null));
    reader.reported(first, EngineKind.UNKNOWN, new Usage(first.tokens(), null, null));
    assertThat(chat(EngineKind.SGLANG, json).exactness()).isEqualTo(Exactness.ESTIMATED);
  }

  @Test
  void learnsNothingFromACountThatSeveralWaysOfWritingToolsGive() {
    // SGLang's newest way only moves fields here, and the tokens stay as many.
    String json =
        "{'model':'m','tools':[{'type':'function','function':{'name':'f','description':'d',"
            + "'parameters':{},'strict':false}}],'messages':[{'role':'user','content':'x'}]}";
    Prompt first = chat(EngineKind.SGLANG, json);
    assertThat(first.exactness()).isEqualTo(Exactness.ESTIMATED);
    String moved =
        text(first)
            .replace(
                "\"name\": \"f\", \"description\": \"d\"",
                "\"description\": \"d\", \"name\": \"f\"");
    assertThat(moved).isNotEqualTo(text(first));
    assertThat(TOKENIZER.encode(moved, false)).hasSize(first.tokens());
    reader.reported(first, EngineKind.SGLANG, new Usage(first.tokens(), null, null));
    assertThat(chat(EngineKind.SGLANG, json).exactness()).isEqualTo(Exactness.ESTIMATED);
  }

  @Test
  void whatThrowsInsideLeavesAPromptOfBytes() {
    for (Throwable failure :
        List.of(new IllegalStateException("secret"), new StackOverflowError())) {
      Tokenizer failing =
          (Tokenizer)
              Proxy.newProxyInstance(
                  Tokenizer.class.getClassLoader(),
                  new Class<?>[] {Tokenizer.class},
                  (proxy, method, arguments) -> {
                    if (method.getName().equals("cut")) {
                      throw failure;
                    }
                    return method.invoke(TOKENIZER, arguments);
                  });
      PromptReader broken =
          PromptReader.builder()
              .model("m", ModelFiles.of(failing, "{{ messages[0].content }}", Map.of()))
              .build();
      Prompt prompt =
          broken.read(
              RouterRequest.chatCompletions(
                  "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}"));
      assertThat(prompt.exactness()).isEqualTo(Exactness.ESTIMATED);
      assertThat(prompt.inexactReason()).isEqualTo("the prompt pipeline failed");
      assertThat(prompt.tokenIds()).isNull();
      assertThat(prompt.bytes()).isNotEmpty();
    }
  }

  @Test
  void sglangHeedsTheChoiceOfTools() {
    String json =
        "{'model':'m',"
            + TOOLS
            + ",'tool_choice':'none','messages':[{'role':'user','content':'x'}]}";
    assertThat(text(chat(EngineKind.SGLANG, json))).startsWith("<s><|im_start|>");
    assertThat(text(chat(EngineKind.VLLM, json))).startsWith("<s>{\"type\"");
  }

  @Test
  void continuesAFinalMessage() {
    String json =
        "{'model':'m','messages':[{'role':'user','content':'q'},"
            + "{'role':'assistant','content':'The answer '}],'continue_final_message':true";
    String expected = "<s><|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\nThe answer ";
    Prompt vllm = chat(EngineKind.VLLM, json + ",'add_generation_prompt':false}");
    assertThat(vllm.tokenIds()).isEqualTo(TOKENIZER.encode(expected, false));
    assertThat(vllm.exactness()).isEqualTo(Exactness.EXACT);
    Prompt sglang = chat(EngineKind.SGLANG, json + "}");
    assertThat(sglang.exactness()).isEqualTo(Exactness.EXACT);
    assertThat(text(sglang)).isEqualTo(expected);
    int[] ids = Objects.requireNonNull(sglang.tokenIds());
    int[] prefix = TOKENIZER.encode("The answer ", true);
    assertThat(List.of(ids[ids.length - prefix.length])).containsExactly(prefix[0]);
    assertThat(chat(EngineKind.VLLM, json + ",'add_generation_prompt':true}").exactness())
        .isEqualTo(Exactness.ESTIMATED);
  }

  @Test
  void continuesOnlyWhereAllVersionsEndTheMessageAlike() {
    for (String content : List.of(" both sides ", "", "m", "\u00a0x ")) {
      Prompt prompt =
          chat(
              EngineKind.VLLM,
              "{'model':'m','messages':[{'role':'user','content':'q'},"
                  + "{'role':'assistant','content':'"
                  + content
                  + "'}],'continue_final_message':true,'add_generation_prompt':false}");
      assertThat(prompt.exactness()).as(content).isEqualTo(Exactness.ESTIMATED);
      assertThat(prompt.inexactReason()).contains("versions of transformers");
    }
    Prompt leading =
        chat(
            EngineKind.VLLM,
            "{'model':'m','messages':[{'role':'user','content':'q'},"
                + "{'role':'assistant','content':'  So far'}],'continue_final_message':true}");
    assertThat(leading.exactness()).isEqualTo(Exactness.EXACT);
    assertThat(text(leading)).endsWith("assistant\n  So far");
  }

  @Test
  void sglangContinuesExactlyWhereTokensAndTextAgree() {
    String json =
        "{'model':'m','messages':[{'role':'user','content':'q'},"
            + "{'role':'assistant','content':'The answer'}],'continue_final_message':true,"
            + "'chat_template_kwargs':{'extra':'";
    assertThat(chat(EngineKind.SGLANG, json + "'}}").exactness()).isEqualTo(Exactness.EXACT);
    Prompt merged = chat(EngineKind.SGLANG, json + "  '}}");
    assertThat(merged.exactness()).isEqualTo(Exactness.ESTIMATED);
    assertThat(merged.inexactReason()).contains("versions of SGLang");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      textBlock =
          """
          VLLM   | 'add_special_tokens':true
          VLLM   | 'chat_template_kwargs':{'add_generation_prompt':false}
          VLLM   | 'chat_template_kwargs':{'documents':[]}
          VLLM   | 'chat_template_kwargs':{'continue_final_message':true}
          VLLM   | 'reasoning_effort':'low','chat_template_kwargs':{'reasoning_effort':'high'}
          VLLM   | 'tools':[]
          SGLANG | 'chat_template_kwargs':{'truncation':true,'max_length':5}
          SGLANG | 'input_ids':[1,2,3]
          SGLANG | 'cache_salt':['a']
          SGLANG | 'lora_path':['a']
          SGLANG | 'extra_key':7
          """)
  void whatEnginesOrTheirVersionsReadDifferentlyIsNotExact(EngineKind engine, String fields) {
    Prompt prompt =
        chat(engine, "{'model':'m'," + fields + ",'messages':[{'role':'user','content':'x'}]}");
    assertThat(prompt.exactness()).isEqualTo(Exactness.ESTIMATED);
    assertThat(prompt.inexactReason()).isNotNull();
  }

  @Test
  void vllmsReasoningEffortMayTurnThinkingOn() {
    PromptReader thinking =
        PromptReader.builder()
            .model(
                "m",
                ModelFiles.of(
                    TOKENIZER,
                    "{{ messages[0].content }}{% if enable_thinking %}<think>{% endif %}",
                    Map.of()))
            .build();
    String start = "{\"model\":\"m\",\"reasoning_effort\":\"low\",";
    String messages = "\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}";
    RouterRequest open = RouterRequest.chatCompletions(start + messages);
    RouterRequest settled =
        RouterRequest.chatCompletions(
            start + "\"chat_template_kwargs\":{\"enable_thinking\":true}," + messages);
    assertThat(thinking.read(open, by(EngineKind.VLLM)).inexactReason())
        .contains("enable_thinking");
    assertThat(thinking.read(open, by(EngineKind.SGLANG)).exactness()).isEqualTo(Exactness.EXACT);
    assertThat(thinking.read(settled, by(EngineKind.VLLM)).exactness()).isEqualTo(Exactness.EXACT);
  }

  @Test
  void keysThatAreNoTextsSeparateToo() {
    String messages = "'messages':[{'role':'user','content':'" + "word ".repeat(40) + "'}]}";
    for (String key : List.of("cache_salt", "extra_key", "lora_path")) {
      Prompt one = chat(EngineKind.SGLANG, "{'model':'m','" + key + "':['a']," + messages);
      Prompt two = chat(EngineKind.SGLANG, "{'model':'m','" + key + "':['b']," + messages);
      Prompt none = chat(EngineKind.SGLANG, "{'model':'m'," + messages);
      assertThat(one.namespace()).isNotEqualTo(two.namespace()).isNotEqualTo(none.namespace());
      BlockHashes ofOne = Objects.requireNonNull(one.blocks());
      BlockHashes ofNone = Objects.requireNonNull(none.blocks());
      assertThat(ofOne.scheme().namespace()).isNotEqualTo(ofNone.scheme().namespace());
    }
  }

  @Test
  void aTextAtTheStartIsAnotherPlaceThanBehindAToken() {
    Tokenizer sensitive =
        (Tokenizer)
            Proxy.newProxyInstance(
                Tokenizer.class.getClassLoader(),
                new Class<?>[] {Tokenizer.class},
                (proxy, method, arguments) ->
                    method.getName().equals("positionSensitive")
                        ? true
                        : method.invoke(TOKENIZER, arguments));
    SegmentCache cache = new SegmentCache(1 << 16);
    int start = TOKENIZER.tokenId("<|im_start|>").orElseThrow();
    byte[] inside = "<|im_start|>x<|im_end|>".getBytes(StandardCharsets.UTF_8);
    byte[] behind = "x<|im_end|>".getBytes(StandardCharsets.UTF_8);
    SegmentCache.Encoded one = cache.encode(sensitive, 0, inside, new int[0], new int[0]);
    SegmentCache.Encoded two = cache.encode(sensitive, 0, behind, new int[] {start}, new int[0]);
    assertThat(one.added()[2]).isTrue();
    assertThat(two.added()[2]).isTrue();
    assertThat(one.high()[0]).isEqualTo(two.high()[0]);
    assertThat(one.high()[2]).isNotEqualTo(two.high()[2]);
    assertThat(one.low()[2]).isNotEqualTo(two.low()[2]);
  }

  @Test
  void onlyVllmHeedsAddSpecialTokens() {
    RouterRequest request =
        RouterRequest.completions(
            "{\"model\":\"m\",\"prompt\":\"Hello\",\"add_special_tokens\":false}");
    assertThat(reader.read(request, by(EngineKind.VLLM)).exactness()).isEqualTo(Exactness.EXACT);
    assertThat(reader.read(request, by(EngineKind.SGLANG)).exactness())
        .isEqualTo(Exactness.ESTIMATED);
  }

  @ParameterizedTest
  @CsvSource({
    "18446744073709551615, EXACT",
    "18446744073709551616, ESTIMATED",
    "-9223372036854775808, EXACT",
    "-9223372036854775809, ESTIMATED",
    "1e999, ESTIMATED"
  })
  void sglangReadsArgumentsWithin64Bits(String number, Exactness exactness) {
    String json =
        "{'model':'m','messages':[{'role':'user','content':'q'},{'role':'assistant',"
            + "'content':null,'tool_calls':[{'id':'1','type':'function','function':{'name':'w',"
            + "'arguments':'{\\\"city\\\": [{\\\"n\\\": "
            + number
            + "}]}'}}]}]}";
    assertThat(chat(EngineKind.SGLANG, json).exactness()).isEqualTo(exactness);
    assertThat(chat(EngineKind.VLLM, json).exactness()).isEqualTo(Exactness.EXACT);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          parts other than text | {'role':'user','content':[{'type':'image_url','image_url':{}}]}
          no object with a role | {'content':'x'}
          no object with a role | 7
          neither text nor      | {'role':'user','content':3}
          """)
  void whatCantBeRenderedSaysWhyAndKeepsItsBytes(String reason, String message) {
    for (EngineKind engine : List.of(EngineKind.VLLM, EngineKind.SGLANG)) {
      Prompt prompt = chat(engine, "{'model':'m','messages':[" + message + "]}");
      assertThat(prompt.exactness()).isEqualTo(Exactness.ESTIMATED);
      assertThat(prompt.inexactReason()).contains(reason);
      assertThat(prompt.tokenIds()).isNull();
      assertThat(prompt.bytes()).isNotEmpty();
    }
  }

  @Test
  void requestsThatChangeTheRenderingAreNotExact() {
    String messages = "'messages':[{'role':'user','content':'x'}]";
    assertThat(
            chat(EngineKind.VLLM, "{'model':'m','chat_template':'x'," + messages + "}")
                .inexactReason())
        .contains("template of its own");
    assertThat(
            chat(EngineKind.VLLM, "{'model':'m','truncate_prompt_tokens':5," + messages + "}")
                .inexactReason())
        .contains("truncate_prompt_tokens");
    assertThat(
            chat(
                    EngineKind.SGLANG,
                    "{'model':'m','chat_template_kwargs':{'tools':[]}," + messages + "}")
                .inexactReason())
        .contains("chat_template_kwargs");
    Prompt other = chat(EngineKind.VLLM, "{'model':'other'," + messages + "}");
    assertThat(other.exactness()).isEqualTo(Exactness.ESTIMATED);
    assertThat(other.inexactReason()).isNull();
  }

  @Test
  void aTemplateThatRaisesGivesAwayNothingOfThePrompt() {
    ModelFiles raising =
        ModelFiles.of(TOKENIZER, "{{ raise_exception(messages[0].content) }}", Map.of());
    Prompt prompt =
        PromptReader.builder()
            .model("m", raising)
            .build()
            .read(
                RouterRequest.chatCompletions(
                    "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"secret\"}]}"),
                by(EngineKind.VLLM));
    assertThat(prompt.inexactReason()).contains("line 1").doesNotContain("secret");
    assertThat(prompt.toString()).doesNotContain("secret");
  }

  @Test
  void completionsAreTextsOrTokenIds() {
    Prompt text = completion("{\"model\":\"m\",\"prompt\":\"Once upon a time<|im_end|>\"}");
    assertThat(text.tokenIds()).isEqualTo(TOKENIZER.encode("Once upon a time<|im_end|>", true));
    assertThat(text.exactness()).isEqualTo(Exactness.EXACT);
    Prompt ids = completion("{\"model\":\"m\",\"prompt\":[5,6,7]}");
    assertThat(ids.tokenIds()).containsExactly(5, 6, 7);
    assertThat(ids.exactness()).isEqualTo(Exactness.EXACT);
    Prompt one = completion("{\"model\":\"m\",\"prompt\":[\"Once\"]}");
    assertThat(one.tokenIds()).isEqualTo(TOKENIZER.encode("Once", true));
    assertThat(one.exactness()).isEqualTo(Exactness.EXACT);
    Prompt batch = completion("{\"model\":\"m\",\"prompt\":[[1,2],[3]]}");
    assertThat(batch.tokenIds()).containsExactly(1, 2, 3);
    assertThat(batch.inexactReason()).contains("batch");
    assertThat(completion("{\"model\":\"m\",\"prompt\":[-1]}").inexactReason())
        .contains("no token id");
  }

  private Prompt completion(String json) {
    return reader.read(RouterRequest.completions(json), by(EngineKind.VLLM));
  }

  @Test
  void addsTheTokensThatCompletionsExpect() {
    ModelFiles llama =
        ModelFiles.of(Tokenizers.load(resource("llama").getParent()), null, Map.of());
    PromptReader llamas = PromptReader.builder().model("m", llama).build();
    Prompt with =
        llamas.read(RouterRequest.completions("{\"model\":\"m\",\"prompt\":\"Hi\"}"), by());
    Prompt without =
        llamas.read(
            RouterRequest.completions(
                "{\"model\":\"m\",\"prompt\":\"Hi\",\"add_special_tokens\":false}"),
            by());
    assertThat(with.tokenIds()).isEqualTo(llama.tokenizer().encode("Hi", true));
    assertThat(without.tokenIds()).isEqualTo(llama.tokenizer().encode("Hi", false));
    assertThat(with.tokens()).isEqualTo(without.tokens() + 1);
  }

  @Test
  void saltsAndAdaptersKeepPromptsApart() {
    String messages =
        "'messages':[{'role':'user','content':'" + "one two three four ".repeat(20) + "'}]";
    BlockHashes plain = blocks("{'model':'m'," + messages + "}");
    BlockHashes salted = blocks("{'model':'m','cache_salt':'s'," + messages + "}");
    assertThat(plain.size()).isGreaterThan(2).isEqualTo(salted.size());
    assertThat(plain.bits(0)).isNotEqualTo(salted.bits(0));
    assertThat(plain.commonPrefix(salted)).isZero();
    BlockHashes other = blocks("{'model':'m','cache_salt':'t'," + messages + "}");
    assertThatThrownBy(() -> other.commonPrefix(salted))
        .isInstanceOf(NamespaceMismatchException.class);
    Prompt adapter =
        reader.read(
            RouterRequest.chatCompletions(("{'model':'lora'," + messages + "}").replace('\'', '"')),
            model -> new PromptReader.Served(Set.of(EngineKind.VLLM), "m"));
    assertThat(adapter.exactness()).isEqualTo(Exactness.EXACT);
    assertThat(Objects.requireNonNull(adapter.blocks()).bits(0)).isNotEqualTo(plain.bits(0));
    Prompt path =
        reader.read(
            RouterRequest.chatCompletions(
                ("{'model':'m:lora'," + messages + "}").replace('\'', '"')),
            by(EngineKind.SGLANG));
    assertThat(Objects.requireNonNull(path.blocks()).bits(0)).isEqualTo(adapter.blocks().bits(0));
  }

  private BlockHashes blocks(String json) {
    return Objects.requireNonNull(chat(EngineKind.VLLM, json).blocks());
  }

  @Test
  void engineHashesComeFromTheSameTokens() {
    Prompt prompt =
        chat(
            EngineKind.VLLM,
            "{'model':'m','messages':[{'role':'user','content':'" + "word ".repeat(99) + "'}]}");
    var scheme = HashSchemes.byName("vllm-sha256-cbor", prompt.hashKeys());
    BlockHashes hashes = prompt.engineBlocks(scheme);
    assertThat(hashes.size()).isEqualTo(prompt.tokens() / 16);
    assertThat(hashes.digestHex(0))
        .isEqualTo(
            scheme
                .newChain(dev.warmpath.hash.Retention.DIGESTS)
                .append(Objects.requireNonNull(prompt.tokenIds()))
                .hashes()
                .digestHex(0));
    assertThat(prompt.engineBlocks(scheme)).isSameAs(hashes);
  }

  @Test
  void engineHashesGoOnFromAnEarlierTurn() {
    String turn = "{'role':'user','content':'" + "word ".repeat(99) + "'}";
    for (String messages : List.of(turn, turn + "," + turn)) {
      Prompt prompt = chat(EngineKind.VLLM, "{'model':'m','messages':[" + messages + "]}");
      prompt.engineBlocks(HashSchemes.byName("vllm-sha256-cbor", prompt.hashKeys()));
    }
    // The second turn's own chain and the engine's, of four in all.
    assertThat(reader.stats().chainHitRate()).isEqualTo(0.5);
  }

  @Test
  void anAnswerGoesOnWhereTheNextTurnDoes() {
    String user = "{'role':'user','content':'" + "tell me more about it ".repeat(9) + "'}";
    Prompt first = chat(EngineKind.VLLM, "{'model':'m','messages':[" + user + "]}");
    String answer = "well then here it is ".repeat(9) + ".";
    BlockHashes held = Objects.requireNonNull(first.blocksWith(answer));
    Prompt second =
        chat(
            EngineKind.VLLM,
            "{'model':'m','messages':["
                + user
                + ",{'role':'assistant','content':'"
                + answer
                + "'},{'role':'user','content':'go on'}]}");
    BlockHashes next = Objects.requireNonNull(second.blocks());
    assertThat(held.size()).isGreaterThan(Objects.requireNonNull(first.blocks()).size());
    assertThat(next.commonPrefix(held)).isGreaterThanOrEqualTo(held.size() - 1);
  }

  /** Whatever was read before, and however little the cache holds. */
  @Property(tries = 60)
  void cachedEqualsUncachedForAnyHistory(@ForAll long seed) throws JsonProcessingException {
    SplittableRandom random = new SplittableRandom(seed);
    PromptReader small = reader(random.nextInt(8_000));
    PromptReader large = reader(1 << 22);
    List<String> pool = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      pool.add(content(random));
    }
    List<Map<String, Object>> conversation = new ArrayList<>();
    for (int turn = 0; turn < 12; turn++) {
      if (random.nextInt(4) == 0) {
        conversation = new ArrayList<>(conversation.subList(0, conversation.size() / 2));
      }
      Map<String, Object> message = new LinkedHashMap<>();
      message.put("role", random.nextBoolean() ? "user" : "assistant");
      message.put("content", pool.get(random.nextInt(pool.size())));
      conversation.add(message);
      RouterRequest request =
          RouterRequest.chatCompletions(
              JSON.writeValueAsString(Map.of("model", "m", "messages", conversation)));
      Prompt fresh = reader(0).read(request, by(EngineKind.VLLM));
      for (PromptReader cached : List.of(small, large)) {
        Prompt prompt = cached.read(request, by(EngineKind.VLLM));
        assertThat(prompt.tokenIds()).isEqualTo(fresh.tokenIds());
        BlockHashes blocks = Objects.requireNonNull(prompt.blocks());
        assertThat(blocks.size()).isEqualTo(prompt.tokens() / 16);
        assertThat(blocks.commonPrefix(Objects.requireNonNull(fresh.blocks())))
            .isEqualTo(blocks.size());
        var engine = HashSchemes.byName("vllm-sha256-cbor", prompt.hashKeys());
        BlockHashes hashes = prompt.engineBlocks(engine);
        assertThat(hashes.size()).isEqualTo(blocks.size());
        assertThat(hashes.commonPrefix(fresh.engineBlocks(engine))).isEqualTo(hashes.size());
      }
    }
  }

  private static String content(SplittableRandom random) {
    String[] pieces = {
      "hello ",
      "world",
      "<|im_end|>",
      "<|im_start|>",
      "\n",
      "東京 ",
      "é",
      "e\u0301",
      " 12345 ",
      "<|im_"
    };
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(40); i >= 0; i--) {
      text.append(pieces[random.nextInt(pieces.length)]);
    }
    return text.toString();
  }
}
