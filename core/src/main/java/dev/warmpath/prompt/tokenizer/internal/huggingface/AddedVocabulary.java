package dev.warmpath.prompt.tokenizer.internal.huggingface;

import dev.warmpath.prompt.tokenizer.AddedToken;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The added tokens on top of the model's vocabulary. Adding follows upstream in every detail that
 * can be seen: ids are those of the vocabulary or the next free ones, whatever the file says; a
 * token added again changes the flags of the first.
 */
final class AddedVocabulary {
  private final Vocabulary vocabulary;
  private final Map<String, Integer> ids = new HashMap<>();
  private final Map<Integer, AddedToken> byId = new HashMap<>();
  private final List<AddedToken> special = new ArrayList<>();
  private final List<AddedToken> plain = new ArrayList<>();
  private final Set<String> specialContents = new HashSet<>();
  private int greatestId = -1;

  AddedVocabulary(Vocabulary vocabulary) {
    this.vocabulary = vocabulary;
  }

  /** Adds tokens; the ids that they carry don't matter. */
  void add(List<AddedToken> tokens) {
    for (AddedToken token : tokens) {
      if (token.special() && !token.content().isEmpty() && specialContents.add(token.content())) {
        special.add(token);
      }
    }
    for (AddedToken token : tokens) {
      if (token.content().isEmpty() || isKnown(token)) {
        continue;
      }
      int id = find(token.content());
      if (id < 0) {
        id = Math.max(vocabulary.count(), greatestId + 1);
      }
      greatestId = Math.max(greatestId, id);
      ids.put(token.content(), id);
      byId.put(id, withId(token, id));
      if (!specialContents.contains(token.content())) {
        plain.add(token);
      }
    }
  }

  private boolean isKnown(AddedToken token) {
    Integer id = ids.get(token.content());
    return id != null && withId(token, id).equals(byId.get(id));
  }

  private static AddedToken withId(AddedToken token, int id) {
    return new AddedToken(
        id,
        token.content(),
        token.special(),
        token.singleWord(),
        token.leftStrip(),
        token.rightStrip(),
        token.normalized());
  }

  /** The id of a token, added or of the model, or -1. */
  int find(String token) {
    Integer id = ids.get(token);
    return id != null ? id : vocabulary.find(token);
  }

  /** The added token with an id, or null. */
  @Nullable AddedToken get(int id) {
    return byId.get(id);
  }

  /** Whether decoding leaves a token out on request. */
  boolean isSpecial(String content) {
    return specialContents.contains(content);
  }

  /** All added tokens by id. */
  List<AddedToken> all() {
    return byId.values().stream().sorted(Comparator.comparingInt(AddedToken::id)).toList();
  }

  /**
   * A matcher for the tokens that are looked for in the text as given, or for those that are looked
   * for in the normalized text.
   */
  TokenMatcher matcher(boolean normalized, Normalizer normalizer, boolean skipSpecial) {
    List<byte[]> contents = new ArrayList<>();
    List<AddedToken> tokens = new ArrayList<>();
    List<AddedToken> all = new ArrayList<>(special);
    all.addAll(plain);
    for (AddedToken token : all) {
      AddedToken current = byId.get(find(token.content()));
      if (token.normalized() != normalized || current == null) {
        continue;
      }
      Slice content = Slice.of(token.content().getBytes(StandardCharsets.UTF_8));
      if (normalized) {
        content = normalizer.normalize(content);
      }
      if (content.isEmpty()) {
        throw new IllegalArgumentException(
            "the added token '" + token.content() + "' vanishes in normalization");
      }
      contents.add(Arrays.copyOfRange(content.bytes(), content.from(), content.to()));
      tokens.add(specialAs(current));
    }
    return new TokenMatcher(contents, tokens, skipSpecial);
  }

  private AddedToken specialAs(AddedToken token) {
    boolean isSpecial = isSpecial(token.content());
    return isSpecial == token.special()
        ? token
        : new AddedToken(
            token.id(),
            token.content(),
            isSpecial,
            token.singleWord(),
            token.leftStrip(),
            token.rightStrip(),
            token.normalized());
  }
}
