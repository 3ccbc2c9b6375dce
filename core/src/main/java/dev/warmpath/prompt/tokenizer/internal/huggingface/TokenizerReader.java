package dev.warmpath.prompt.tokenizer.internal.huggingface;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.prompt.tokenizer.AddedToken;
import dev.warmpath.prompt.tokenizer.Tokenizer;
import dev.warmpath.prompt.tokenizer.internal.unicode.CodePoints;
import dev.warmpath.prompt.tokenizer.internal.unicode.OnigurumaRegex;
import java.nio.charset.StandardCharsets;
import java.text.Normalizer.Form;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Makes a tokenizer of what {@code tokenizer.json} says. What is not known, or can't be done
 * exactly, is refused with an {@link IllegalArgumentException}.
 */
final class TokenizerReader {
  private final TokenizerJson json;
  private final TokenizerConfig config;

  TokenizerReader(TokenizerJson json, TokenizerConfig config) {
    this.json = json;
    this.config = config;
  }

  /** A tokenizer of the one kind of model that is carried out here. */
  Tokenizer readBytePair() {
    if (json.model("dropout").asDouble(0) != 0) {
      throw new IllegalArgumentException("dropout, which makes ids random");
    }
    List<JsonNode> steps = new ArrayList<>();
    flatten(json.part("pre_tokenizer"), "pretokenizers", steps);
    boolean byteLevel = !steps.isEmpty() && type(steps.get(steps.size() - 1)).equals("ByteLevel");
    Vocabulary vocabulary = json.vocabulary(byteLevel);
    String prefix = json.model("continuing_subword_prefix").asText("");
    BytePairModel model =
        new BytePairModel(
            vocabulary,
            json.merges(vocabulary, prefix.getBytes(StandardCharsets.UTF_8).length),
            new BytePairModel.Options(
                byteLevel,
                json.model("ignore_merges").asBoolean(false),
                json.model("byte_fallback").asBoolean(false),
                json.model("fuse_unk").asBoolean(false),
                json.model("unk_token").textValue(),
                prefix,
                json.model("end_of_word_suffix").asText("")));
    AddedVocabulary added = addedVocabulary(vocabulary);
    return new BytePairTokenizer(
        tokenTexts(vocabulary, added),
        added,
        config.splitsSpecialTokens(),
        normalizer(json.part("normalizer")),
        words(steps),
        model,
        specialTokens(added));
  }

  /** A tokenizer whose model {@code engine} carries out. */
  Tokenizer readForeign(ForeignTokenizer.Engine engine) {
    Vocabulary vocabulary = json.vocabulary(false);
    AddedVocabulary added = addedVocabulary(vocabulary);
    return new ForeignTokenizer(engine, tokenTexts(vocabulary, added), specialTokens(added));
  }

  private AddedVocabulary addedVocabulary(Vocabulary vocabulary) {
    AddedVocabulary added = new AddedVocabulary(vocabulary);
    added.add(addedTokens(json.part("added_tokens")));
    config.addTokens(added);
    return added;
  }

  private TokenTexts tokenTexts(Vocabulary vocabulary, AddedVocabulary added) {
    return new TokenTexts(vocabulary, added, decoding(json.part("decoder"), vocabulary));
  }

  private SpecialTokens specialTokens(AddedVocabulary added) {
    return config.replacesSpecialTokens()
        ? config.specialTokens(added)
        : specialTokens(json.part("post_processor"));
  }

  static List<AddedToken> addedTokens(JsonNode list) {
    List<AddedToken> tokens = new ArrayList<>();
    for (JsonNode node : list) {
      tokens.add(addedToken(node, node.path("id").asInt(-1)));
    }
    return tokens;
  }

  static AddedToken addedToken(JsonNode node, int id) {
    return new AddedToken(
        id,
        node.path("content").asText(),
        node.path("special").asBoolean(false),
        node.path("single_word").asBoolean(false),
        node.path("lstrip").asBoolean(false),
        node.path("rstrip").asBoolean(false),
        node.path("normalized").asBoolean(true));
  }

  /** The steps of a part, sequences within sequences unrolled. */
  private static void flatten(JsonNode node, String listName, List<JsonNode> out) {
    if (isAbsent(node)) {
      return;
    }
    if (type(node).equals("Sequence")) {
      for (JsonNode step : node.path(listName)) {
        flatten(step, listName, out);
      }
    } else {
      out.add(node);
    }
  }

  private static boolean isAbsent(JsonNode node) {
    return node.isMissingNode() || node.isNull();
  }

  private static String type(JsonNode node) {
    return node.path("type").asText();
  }

  private static byte[] utf8(JsonNode node) {
    return node.asText().getBytes(StandardCharsets.UTF_8);
  }

  // Normalizers

  private static @Nullable Normalizer normalizer(JsonNode part) {
    List<JsonNode> nodes = new ArrayList<>();
    flatten(part, "normalizers", nodes);
    List<Normalizer> steps = nodes.stream().map(TokenizerReader::normalizerStep).toList();
    return steps.isEmpty() ? null : steps.size() == 1 ? steps.get(0) : Normalizer.sequence(steps);
  }

  private static Normalizer normalizerStep(JsonNode node) {
    return switch (type(node)) {
      case "NFC" -> Normalizer.nfc();
      case "NFD" -> Normalizer.form(Form.NFD);
      case "NFKC" -> Normalizer.form(Form.NFKC);
      case "NFKD" -> Normalizer.form(Form.NFKD);
      case "Lowercase" -> Normalizer.lowercase();
      case "StripAccents" -> Normalizer.stripAccents();
      case "Strip" ->
          Normalizer.strip(
              node.path("strip_left").asBoolean(), node.path("strip_right").asBoolean());
      case "Prepend" -> Normalizer.prepend(utf8(node.path("prepend")));
      case "Replace" -> Normalizer.replace(pattern(node), utf8(node.path("content")));
      case "Nmt" -> Normalizer.nmt();
      case "ByteLevel" -> Normalizer.byteLevel();
      default -> throw new IllegalArgumentException("the normalizer " + type(node));
    };
  }

  private static Splits pattern(JsonNode node) {
    JsonNode pattern = node.path("pattern");
    if (pattern.has("String")) {
      return Splits.literal(utf8(pattern.path("String")));
    }
    if (pattern.has("Regex")) {
      return Splits.regex(OnigurumaRegex.compile(pattern.path("Regex").asText()));
    }
    throw new IllegalArgumentException("a pattern that is neither a string nor an expression");
  }

  // Pre-tokenizers

  private static BytePairTokenizer.Words words(List<JsonNode> nodes) {
    boolean positionSensitive = false;
    List<PreTokenizer> steps = new ArrayList<>();
    for (int i = 0; i < nodes.size(); i++) {
      addPreTokenizer(nodes.get(i), i == nodes.size() - 1, steps);
      positionSensitive |=
          type(nodes.get(i)).equals("Metaspace")
              && prepend(nodes.get(i)) == PreTokenizer.Prepend.FIRST;
    }
    JsonNode last = nodes.isEmpty() ? null : nodes.get(nodes.size() - 1);
    WordScanner scanner = null;
    boolean leadingSpace = false;
    if (last != null && type(last).equals("ByteLevel")) {
      leadingSpace = last.path("add_prefix_space").asBoolean(true);
      boolean splits = last.path("use_regex").asBoolean(true);
      if (splits && nodes.size() == 1) {
        scanner = Gpt2Scanner.INSTANCE;
      } else if (!splits && !leadingSpace) {
        scanner = scanner(nodes.subList(0, nodes.size() - 1));
      }
    }
    return new BytePairTokenizer.Words(
        scanner, leadingSpace, PreTokenizer.sequence(steps), positionSensitive);
  }

  /** The scanner that does what these splits do, or null. */
  private static @Nullable WordScanner scanner(List<JsonNode> splits) {
    List<String> regexes = new ArrayList<>();
    for (JsonNode node : splits) {
      JsonNode regex = node.path("pattern").path("Regex");
      if (!type(node).equals("Split") || !keepsAll(node) || !regex.isTextual()) {
        return null;
      }
      regexes.add(regex.asText());
    }
    // What the first of several drops, the others would not see.
    boolean exact = splits.size() == 1 || splits.stream().allMatch(TokenizerReader::isolates);
    return exact ? WordScanners.of(regexes) : null;
  }

  /**
   * Whether a split makes a piece of each match. If it drops what lies between the matches, nothing
   * is lost with an expression that matches everywhere.
   */
  private static boolean keepsAll(JsonNode split) {
    boolean invert = split.path("invert").asBoolean(false);
    return isolates(split) || (split.path("behavior").asText().equals("Removed") && invert);
  }

  private static boolean isolates(JsonNode split) {
    return split.path("behavior").asText().equals("Isolated");
  }

  private static void addPreTokenizer(JsonNode node, boolean last, List<PreTokenizer> out) {
    switch (type(node)) {
      case "ByteLevel" -> {
        if (node.path("add_prefix_space").asBoolean(true)) {
          out.add(PreTokenizer.leadingSpace());
        }
        if (node.path("use_regex").asBoolean(true)) {
          out.add(PreTokenizer.words(Gpt2Scanner.INSTANCE));
        }
        // At the end the model takes the bytes themselves.
        if (!last) {
          out.add(PreTokenizer.byteLevelAlphabet());
        }
      }
      case "Split" -> out.add(split(node));
      case "Digits" ->
          out.add(
              PreTokenizer.split(
                  Splits.character(c -> CodePoints.in(CodePoints.NUMBER, c)),
                  node.path("individual_digits").asBoolean(false)
                      ? PreTokenizer.Behavior.ISOLATED
                      : PreTokenizer.Behavior.CONTIGUOUS,
                  false));
      case "Punctuation" ->
          out.add(
              PreTokenizer.split(
                  Splits.character(CodePoints::isPunctuation),
                  behavior(node.path("behavior").asText("Isolated")),
                  false));
      case "Metaspace" ->
          out.add(
              PreTokenizer.metaspace(
                  utf8(node.path("replacement")),
                  prepend(node),
                  node.path("split").asBoolean(true)));
      case "Whitespace" -> out.add(PreTokenizer.wordsAndSigns());
      case "WhitespaceSplit" -> out.add(removed(CodePoints::isSpace));
      case "CharDelimiterSplit", "Delimiter" -> {
        int delimiter = node.path("delimiter").asText().codePointAt(0);
        out.add(removed(c -> c == delimiter));
      }
      case "FixedLength" -> out.add(PreTokenizer.fixedLength(node.path("length").asInt(5)));
      case "BertPreTokenizer" -> {
        out.add(removed(CodePoints::isSpace));
        out.add(
            PreTokenizer.split(
                Splits.character(CodePoints::isPunctuation),
                PreTokenizer.Behavior.ISOLATED,
                false));
      }
      default -> throw new IllegalArgumentException("the pre-tokenizer " + type(node));
    }
  }

  private static PreTokenizer removed(IntPredicate kind) {
    return PreTokenizer.split(Splits.character(kind), PreTokenizer.Behavior.REMOVED, false);
  }

  private static PreTokenizer split(JsonNode node) {
    JsonNode regex = node.path("pattern").path("Regex");
    WordScanner scanner =
        regex.isTextual() && keepsAll(node) ? WordScanners.of(List.of(regex.asText())) : null;
    if (scanner != null) {
      return PreTokenizer.words(scanner);
    }
    return PreTokenizer.split(
        pattern(node),
        behavior(node.path("behavior").asText()),
        node.path("invert").asBoolean(false));
  }

  private static PreTokenizer.Behavior behavior(String name) {
    return switch (name) {
      case "Removed" -> PreTokenizer.Behavior.REMOVED;
      case "Isolated" -> PreTokenizer.Behavior.ISOLATED;
      case "MergedWithPrevious" -> PreTokenizer.Behavior.MERGED_WITH_PREVIOUS;
      case "MergedWithNext" -> PreTokenizer.Behavior.MERGED_WITH_NEXT;
      case "Contiguous" -> PreTokenizer.Behavior.CONTIGUOUS;
      default -> throw new IllegalArgumentException("the split behavior " + name);
    };
  }

  private static PreTokenizer.Prepend prepend(JsonNode node) {
    String scheme = node.path("prepend_scheme").asText("always");
    if (!node.path("add_prefix_space").asBoolean(true)) {
      if (node.has("prepend_scheme") && !scheme.equals("never")) {
        throw new IllegalArgumentException("a Metaspace that contradicts itself");
      }
      scheme = "never";
    }
    return PreTokenizer.Prepend.valueOf(scheme.toUpperCase(Locale.ROOT));
  }

  // Post-processors

  /** What the post-processor puts around a single text. */
  static SpecialTokens specialTokens(JsonNode part) {
    List<JsonNode> nodes = new ArrayList<>();
    flatten(part, "processors", nodes);
    SpecialTokens found = SpecialTokens.NONE;
    boolean templated = false;
    for (JsonNode node : nodes) {
      if (type(node).equals("ByteLevel")) {
        continue;
      }
      if (templated) {
        throw new IllegalArgumentException("more than one post-processor that adds tokens");
      }
      templated = true;
      found =
          switch (type(node)) {
            case "TemplateProcessing" -> template(node);
            case "BertProcessing", "RobertaProcessing" ->
                new SpecialTokens(
                    new int[] {node.path("cls").path(1).asInt()},
                    new int[] {node.path("sep").path(1).asInt()});
            default -> throw new IllegalArgumentException("the post-processor " + type(node));
          };
    }
    return found;
  }

  private static SpecialTokens template(JsonNode node) {
    List<Integer> prefix = new ArrayList<>();
    List<Integer> suffix = new ArrayList<>();
    int sequences = 0;
    for (JsonNode piece : node.path("single")) {
      if (piece.has("Sequence")) {
        if (!piece.path("Sequence").path("id").asText().equals("A")) {
          throw new IllegalArgumentException("a template for one text that wants two");
        }
        sequences++;
      } else {
        JsonNode ids =
            node.path("special_tokens")
                .path(piece.path("SpecialToken").path("id").asText())
                .path("ids");
        if (!ids.isArray()) {
          throw new IllegalArgumentException("a template with an unknown token");
        }
        List<Integer> side = sequences == 0 ? prefix : suffix;
        ids.forEach(id -> side.add(id.asInt()));
      }
    }
    if (sequences != 1) {
      throw new IllegalArgumentException("a template that doesn't hold its text once");
    }
    return new SpecialTokens(ints(prefix), ints(suffix));
  }

  private static int[] ints(List<Integer> list) {
    return list.stream().mapToInt(Integer::intValue).toArray();
  }

  // Decoders

  private static TokenTexts.Decoding decoding(JsonNode part, Vocabulary vocabulary) {
    List<JsonNode> nodes = new ArrayList<>();
    flatten(part, "decoders", nodes);
    if (isAbsent(part)) {
      return new TokenTexts.Decoding(false, List.of(Decoders.spaced()));
    }
    if (vocabulary.isByteLevel() && nodes.size() == 1 && type(nodes.get(0)).equals("ByteLevel")) {
      return new TokenTexts.Decoding(true, List.of());
    }
    return new TokenTexts.Decoding(
        false, nodes.stream().map(TokenizerReader::decoderStep).toList());
  }

  private static Decoders.Step decoderStep(JsonNode node) {
    return switch (type(node)) {
      case "ByteLevel" -> Decoders.byteLevel();
      case "ByteFallback" -> Decoders.byteFallback();
      case "Fuse" -> Decoders.fuse();
      case "Replace" -> replaceStep(node);
      case "Strip" ->
          Decoders.strip(
              node.path("content").asText().codePointAt(0),
              node.path("start").asInt(),
              node.path("stop").asInt());
      case "Metaspace" ->
          Decoders.metaspace(
              node.path("replacement").asText().codePointAt(0),
              prepend(node) != PreTokenizer.Prepend.NEVER);
      case "BPEDecoder" -> Decoders.wordEnd(node.path("suffix").asText("</w>"));
      case "WordPiece" ->
          Decoders.wordPiece(
              node.path("prefix").asText("##"), node.path("cleanup").asBoolean(true));
      default -> throw new IllegalArgumentException("the decoder " + type(node));
    };
  }

  private static Decoders.Step replaceStep(JsonNode node) {
    JsonNode pattern = node.path("pattern");
    String content = node.path("content").asText();
    return pattern.has("String")
        ? Decoders.replace(pattern.path("String").asText(), content)
        : Decoders.replace(OnigurumaRegex.compile(pattern.path("Regex").asText()), content);
  }
}
