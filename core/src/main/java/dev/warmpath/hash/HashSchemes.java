package dev.warmpath.hash;

import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** The hash schemes, by name. */
public final class HashSchemes {

  private static final Map<String, Function<ParamValues, HashScheme>> SCHEMES = schemes();

  private HashSchemes() {}

  private static Map<String, Function<ParamValues, HashScheme>> schemes() {
    Map<String, Function<ParamValues, HashScheme>> schemes = new LinkedHashMap<>();
    for (SglangScheme.Kind kind : SglangScheme.Kind.values()) {
      schemes.put(kind.schemeName, params -> new SglangScheme(kind, params));
    }
    for (VllmScheme.Algorithm algorithm : VllmScheme.Algorithm.values()) {
      schemes.put(algorithm.schemeName, params -> new VllmScheme(algorithm, params));
    }
    schemes.put(AtomScheme.NAME, AtomScheme::new);
    schemes.put(DynamoScheme.NAME, DynamoScheme::new);
    schemes.put(LlmdScheme.NAME, LlmdScheme::new);
    return Collections.unmodifiableMap(schemes);
  }

  /** Names of the engines' schemes. */
  public static List<String> names() {
    return List.copyOf(SCHEMES.keySet());
  }

  /**
   * An engine's scheme.
   *
   * @param name one of {@link #names()}
   * @param params the engine's configuration and the keys of a request; a parent and block extras
   *     are left aside
   * @throws IllegalArgumentException if there is no such scheme, or a parameter that it needs is
   *     missing or contradicts another
   */
  public static HashScheme byName(String name, HashParams params) {
    Function<ParamValues, HashScheme> factory = SCHEMES.get(name);
    if (factory == null) {
      throw new IllegalArgumentException("no hash scheme " + name + "; there are " + names());
    }
    return factory.apply(params.values);
  }

  /**
   * Opens a chain with everything that the parameters say: resumed after the parent where there is
   * one, and with the block extras added, their offsets being positions in the prompt.
   *
   * @param name one of {@link #names()}
   * @throws IllegalArgumentException as {@link #byName} does
   */
  public static BlockChain open(String name, HashParams params, Retention retention) {
    HashScheme scheme = byName(name, params);
    BlockChain chain = open(scheme, params.values, retention);
    params.values.addExtras(chain);
    return chain;
  }

  private static BlockChain open(HashScheme scheme, ParamValues params, Retention retention) {
    Long first = params.firstTokenIndex;
    if (params.parent == null) {
      if (first != null && first != 0) {
        throw new IllegalArgumentException("a chain that does not begin at token 0 needs a parent");
      }
      return scheme.newChain(retention);
    }
    byte[] parent = scheme.parseLink(params.parent);
    if (first != null) {
      return scheme.resume(parent, first, retention);
    }
    if (Arrays.equals(parent, scheme.newHasher(null).link())) {
      return scheme.newChain(retention); // the root spelled out
    }
    if (!params.extras.isEmpty()) {
      throw new IllegalArgumentException(
          "first_token_index is needed to place multimodal items after a parent");
    }
    // Without items only that the chain does not begin at token 0 matters.
    return scheme.resume(parent, scheme.blockTokens(), retention);
  }

  /**
   * The client's own block hash, which needs nothing from any engine: chained XXH3-64 of the
   * tokens, apart for every model, adapter, salt and extra key. For the client's own index where
   * engine hashes are unknown; no engine reports it.
   *
   * @param params block size, which is required, and the keys
   */
  public static HashScheme content(HashParams params) {
    return new ContentScheme(params.values);
  }

  /**
   * The token id that SGLang puts in place of every placeholder token of a multimodal item, so that
   * its page hashes cover the item.
   *
   * @param itemHash the engine's hash of the item, of which the low 30 bits matter
   */
  public static int sglangPadToken(long itemHash) {
    return 1_000_000 + (int) (itemHash & ((1 << 30) - 1));
  }
}
