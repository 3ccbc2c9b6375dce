package dev.warmpath.prompt;

import dev.warmpath.hash.BlockChain;
import dev.warmpath.hash.BlockHashes;
import dev.warmpath.hash.ChainState;
import dev.warmpath.hash.HashScheme;
import dev.warmpath.hash.HashSchemes;
import dev.warmpath.prompt.StageTimers.Stage;
import dev.warmpath.prompt.template.TemplateException;
import dev.warmpath.prompt.tokenizer.Tokenizer;
import dev.warmpath.worker.EngineKind;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * One model's prompts: renders requests as its engines do, tokenizes through the caches, and chains
 * block hashes. Learns how SGLang writes tools from the token counts it reports. Safe for any
 * number of threads.
 */
final class ModelPrompts {
  /** Salts and adapters come from requests, so the memory of schemes made for them is bounded. */
  private static final int MAX_SCHEMES = 1_024;

  private static final int[] NO_IDS = {};

  private final ModelFiles files;
  private final int number;
  private final SegmentCache segments;
  private final ChainCache chains;
  private final int blockTokens;
  private final Clock clock;
  private final StageTimers timers;
  private final boolean harmony;
  private final Map<PromptKeys, HashScheme> schemes = new ConcurrentHashMap<>();

  /** How SGLang writes tools; null until a reported token count has told. */
  private volatile @Nullable ToolForm sglangTools;

  /**
   * A model.
   *
   * @param number tells its tokenizer from others' in the caches
   */
  ModelPrompts(
      ModelFiles files,
      int number,
      SegmentCache segments,
      ChainCache chains,
      int blockTokens,
      Clock clock,
      StageTimers timers) {
    this.files = files;
    this.number = number;
    this.segments = segments;
    this.chains = chains;
    this.blockTokens = blockTokens;
    this.clock = clock;
    this.timers = timers;
    Tokenizer tokenizer = files.tokenizer();
    this.harmony =
        tokenizer.tokenId("<|channel|>").isPresent() && tokenizer.tokenId("<|return|>").isPresent();
  }

  /** A text, rendered and tokenized. */
  private record Tokenized(SegmentCache.Encoded ids, int textLength, ChainState end) {}

  /** A chat's text, and what follows it as tokens of its own. */
  private record Text(byte[] rendered, @Nullable String appended) {
    boolean same(Text other) {
      return Arrays.equals(rendered, other.rendered) && Objects.equals(appended, other.appended);
    }
  }

  /**
   * Adds to a prompt what this model makes of it: tokens and blocks where the body can be rendered,
   * and the reason where it is not exact.
   *
   * @param engines the kinds of the workers that serve the model
   */
  void complete(Prompt.Builder prompt, RequestBody body, Set<EngineKind> engines) {
    try {
      for (String name : List.of("lora_path", "cache_salt", "extra_key")) {
        if (body.otherThanText(name)) {
          prompt.inexact(name + " is no text");
        }
      }
      HashScheme scheme = scheme(prompt.keys());
      if (body.isChat()) {
        chat(prompt, body, engines, scheme);
      } else {
        completion(prompt, body, engines, scheme);
      }
    } catch (NotExactException e) {
      prompt.inexact(e.reason());
    }
  }

  private void chat(
      Prompt.Builder prompt, RequestBody body, Set<EngineKind> engines, HashScheme scheme)
      throws NotExactException {
    refuse(body, "truncate_prompt_tokens");
    refuse(body, "input_ids");
    if (body.has("add_special_tokens") && !Boolean.FALSE.equals(body.get("add_special_tokens"))) {
      throw new NotExactException("add_special_tokens changes the prompt in some engines");
    }
    Set<EngineKind> kinds = EnumSet.noneOf(EngineKind.class);
    kinds.addAll(engines);
    if (kinds.isEmpty() || kinds.remove(EngineKind.UNKNOWN)) {
      kinds.addAll(EnumSet.of(EngineKind.SGLANG, EngineKind.VLLM, EngineKind.ATOM));
    }
    if (harmony && kinds.contains(EngineKind.VLLM)) {
      throw new NotExactException("vLLM renders this model by Harmony, not by its chat template");
    }
    EngineKind first = kinds.iterator().next();
    Text text = text(body, first, form(first));
    kinds.remove(first);
    if (!kinds.isEmpty() && !ChatLayout.neutral(body, files)) {
      for (EngineKind other : kinds) {
        if (!text.same(text(body, other, form(other)))) {
          prompt.inexact("the engines that serve the model lay this chat out differently");
        }
      }
    }
    if ((first == EngineKind.SGLANG || kinds.contains(EngineKind.SGLANG))
        && body.get("tools") instanceof List<?> tools) {
      prompt.toolsBody(body);
      if (sglangTools == null && !sameTools(tools)) {
        prompt.inexact("how SGLang writes tools is not confirmed by a reported token count yet");
      }
    }
    Tokenized tokenized = tokenize(text, scheme);
    prompt.tokenized(this, tokenized.ids(), tokenized.textLength(), tokenized.end());
  }

  /** Whether all that SGLang may do to tools leaves them as they are, the order of fields too. */
  private static boolean sameTools(List<?> tools) throws NotExactException {
    return ToolForm.SGLANG.apply(tools).toString().equals(tools.toString());
  }

  private ToolForm form(EngineKind kind) {
    return switch (kind) {
      case VLLM -> ToolForm.VLLM;
      case SGLANG -> {
        ToolForm known = sglangTools;
        yield known == null ? ToolForm.AS_GIVEN : known;
      }
      default -> ToolForm.AS_GIVEN;
    };
  }

  private Text text(RequestBody body, EngineKind engine, ToolForm form) throws NotExactException {
    long begun = timers.begin();
    try {
      return rendered(body, engine, form);
    } finally {
      timers.end(Stage.RENDER, begun);
    }
  }

  private Text rendered(RequestBody body, EngineKind engine, ToolForm form)
      throws NotExactException {
    ChatLayout.Chat chat = ChatLayout.of(body, files, engine, form);
    String continued = chat.continued();
    try {
      if (continued == null || chat.appended()) {
        return new Text(chat.template().renderUtf8(chat.context(), clock), continued);
      }
      String rendered = chat.template().render(chat.context(), clock);
      String marked = chat.template().render(chat.marked(), clock);
      return new Text(cutAfter(rendered, continued, marked).getBytes(StandardCharsets.UTF_8), null);
    } catch (TemplateException e) {
      // The message may quote the prompt.
      throw new NotExactException(
          "the chat template raises " + e.type() + " at line " + e.line() + " for this request");
    }
  }

  /**
   * Ends the text with the final message's content, as transformers' apply_chat_template does:
   * older versions look for the content, newer ones for a mark that they put behind it.
   *
   * @throws NotExactException where the two end it differently
   */
  private static String cutAfter(String rendered, String content, String marked)
      throws NotExactException {
    int mark = marked.lastIndexOf(ChatLayout.MARK.strip());
    int from = 0;
    while (from < content.length() && isSpace(content.charAt(from))) {
      from++;
    }
    String stripped = content.substring(from, Math.max(from, end(content)));
    int at = rendered.lastIndexOf(stripped);
    if (mark < 0 || at < 0) {
      throw new NotExactException(
          "the chat template changes the final message, which is to be continued");
    }
    String newer =
        marked.startsWith(ChatLayout.MARK, mark)
            ? marked.substring(0, mark)
            : marked.substring(0, end(marked.substring(0, mark)));
    // Leading space never was in the comparison that keeps trailing space.
    String older =
        from == 0 && rendered.startsWith(content, at)
            ? rendered.substring(0, at + content.length())
            : rendered.substring(0, at + stripped.length());
    if (!newer.equals(older)) {
      throw new NotExactException(
          "versions of transformers differ in where the final message, which is to be continued,"
              + " ends");
    }
    return newer;
  }

  /** Where a text ends without its trailing space. */
  private static int end(String text) {
    int end = text.length();
    while (end > 0 && isSpace(text.charAt(end - 1))) {
      end--;
    }
    return end;
  }

  /** Space as Python has it. */
  private static boolean isSpace(char c) {
    return Character.isWhitespace(c) || Character.isSpaceChar(c) || c == '\u0085';
  }

  private Tokenized tokenize(Text text, HashScheme scheme) throws NotExactException {
    byte[] utf8 = text.rendered();
    SegmentCache.Encoded encoded = encode(utf8, NO_IDS, NO_IDS);
    ChainState end = chain(scheme, encoded);
    String appended = text.appended();
    if (appended == null) {
      return new Tokenized(encoded, utf8.length, end);
    }
    int[] ids = withoutBos(files.tokenizer().encode(appended, true));
    byte[] more = appended.getBytes(StandardCharsets.UTF_8);
    byte[] whole = Arrays.copyOf(utf8, utf8.length + more.length);
    System.arraycopy(more, 0, whole, utf8.length, more.length);
    TokenSegments joined = encode(whole, NO_IDS, NO_IDS).segments();
    SegmentCache.Encoded apart = encoded.followedBy(ids);
    if (!Arrays.equals(apart.segments().toArray(), joined.toArray())) {
      // Older versions of SGLang append the tokens, newer ones the text.
      throw new NotExactException("versions of SGLang differ in how they continue a final message");
    }
    return new Tokenized(apart, whole.length, end.fork().append(ids).state());
  }

  private SegmentCache.Encoded encode(byte[] utf8, int[] before, int[] after) {
    long begun = timers.begin();
    SegmentCache.Encoded encoded = segments.encode(files.tokenizer(), number, utf8, before, after);
    timers.end(Stage.TOKENIZE, begun);
    return encoded;
  }

  private ChainState chain(HashScheme scheme, SegmentCache.Encoded ids) {
    long begun = timers.begin();
    ChainState end = chains.chain(scheme, ids);
    timers.end(Stage.HASH, begun);
    return end;
  }

  private int[] withoutBos(int[] ids) {
    if (ids.length > 0 && files.specialTokens().get("bos_token") instanceof String bos) {
      OptionalInt id = files.tokenizer().tokenId(bos);
      if (id.isPresent() && id.getAsInt() == ids[0]) {
        return Arrays.copyOfRange(ids, 1, ids.length);
      }
    }
    return ids;
  }

  private void completion(
      Prompt.Builder prompt, RequestBody body, Set<EngineKind> engines, HashScheme scheme)
      throws NotExactException {
    refuse(body, "truncate_prompt_tokens");
    refuse(body, "prompt_embeds");
    refuse(body, "suffix");
    boolean special = !Boolean.FALSE.equals(body.get("add_special_tokens"));
    if (!special && !engines.equals(Set.of(EngineKind.VLLM))) {
      prompt.inexact("only vLLM is known to heed add_special_tokens");
    }
    Object given = body.get("prompt");
    if (given instanceof List<?> list && !list.isEmpty() && !(list.get(0) instanceof Number)) {
      several(prompt, list, special, scheme);
      return;
    }
    Tokenized tokenized = single(given, special, scheme);
    prompt.tokenized(this, tokenized.ids(), tokenized.textLength(), tokenized.end());
  }

  /**
   * A batch: the engine computes each of its prompts, and its counts are sums. Its blocks are those
   * of the first.
   */
  private void several(Prompt.Builder prompt, List<?> prompts, boolean special, HashScheme scheme)
      throws NotExactException {
    List<int[]> parts = new ArrayList<>();
    int size = 0;
    int length = 0;
    ChainState first = null;
    for (Object each : prompts) {
      Tokenized tokenized = single(each, special, scheme);
      first = first == null ? tokenized.end() : first;
      parts.addAll(tokenized.ids().segments().parts());
      size += tokenized.ids().segments().size();
      length += tokenized.textLength();
    }
    if (first != null) {
      prompt.tokenized(
          this, SegmentCache.Encoded.apart(new TokenSegments(parts, size)), length, first);
      if (prompts.size() > 1) {
        prompt.inexact("a batch of prompts is routed by its first");
      }
    }
  }

  private Tokenized single(@Nullable Object given, boolean special, HashScheme scheme)
      throws NotExactException {
    if (given instanceof String text) {
      Tokenizer tokenizer = files.tokenizer();
      byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
      SegmentCache.Encoded encoded =
          encode(
              utf8,
              special ? tokenizer.prefixTokens() : NO_IDS,
              special ? tokenizer.suffixTokens() : NO_IDS);
      return new Tokenized(encoded, utf8.length, chain(scheme, encoded));
    }
    if (given instanceof List<?> list) {
      int[] ids = new int[list.size()];
      for (int i = 0; i < ids.length; i++) {
        if (!(list.get(i) instanceof Integer id) || id < 0) {
          throw new NotExactException("a prompt holds what is no token id");
        }
        ids[i] = id;
      }
      BlockChain chain = scheme.newChain().append(ids);
      return new Tokenized(
          SegmentCache.Encoded.apart(TokenSegments.of(ids)),
          ids.length * Integer.BYTES,
          chain.state());
    }
    throw new NotExactException("the prompt is neither text nor token ids");
  }

  private static void refuse(RequestBody body, String field) throws NotExactException {
    if (body.get(field) != null) {
      throw new NotExactException(field + " changes the prompt in the engine");
    }
  }

  /** An engine's hashes of a prompt's blocks. */
  BlockHashes engineBlocks(HashScheme scheme, SegmentCache.Encoded ids) {
    return chain(scheme, ids).hashes();
  }

  /** Its tokenizer. */
  Tokenizer tokenizer() {
    return files.tokenizer();
  }

  /** The ids of a generated text. */
  int[] answer(String text) {
    return files.tokenizer().encode(text, false);
  }

  private HashScheme scheme(PromptKeys keys) {
    HashScheme known = schemes.get(keys);
    if (known != null) {
      return known;
    }
    HashScheme made = HashSchemes.content(keys.params().toBuilder().blockSize(blockTokens).build());
    if (schemes.size() < MAX_SCHEMES) {
      schemes.put(keys, made);
    }
    return made;
  }

  /** Whether {@link #counted} can learn from a count. */
  boolean learnsFrom(Prompt prompt, int promptTokens) {
    return prompt.single()
        && prompt.toolsBody() != null
        && (sglangTools == null || prompt.tokens() != promptTokens);
  }

  /**
   * Takes note of the prompt tokens that an SGLang worker counted: where they differ from what was
   * rendered, another way of writing tools may explain it.
   */
  void counted(Prompt prompt, int promptTokens) {
    RequestBody body = prompt.toolsBody();
    ToolForm known = sglangTools;
    if (body == null) {
      return;
    }
    ToolForm found = null;
    for (ToolForm form : ToolForm.ofSglang()) {
      try {
        Text text = text(body, EngineKind.SGLANG, form);
        if (tokenize(text, scheme(prompt.keys())).ids().segments().size() != promptTokens) {
          continue;
        }
        if (found != null) {
          // As many tokens either way, or the same text: this request can't tell them apart.
          found = null;
          break;
        }
        found = form;
      } catch (NotExactException e) {
        return;
      }
    }
    // Where the count contradicts what was learned and tells nothing new, nothing is known again.
    if (found != null || known != null) {
      sglangTools = found;
    }
  }
}
