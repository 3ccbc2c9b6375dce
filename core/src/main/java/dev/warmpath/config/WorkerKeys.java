package dev.warmpath.config;

import static dev.warmpath.config.ConfigTypes.PATH;
import static dev.warmpath.config.ConfigTypes.SECRET;
import static dev.warmpath.config.ConfigTypes.SWITCH;
import static dev.warmpath.config.ConfigTypes.TEXT;
import static dev.warmpath.config.ConfigTypes.count;
import static dev.warmpath.config.ConfigTypes.list;
import static dev.warmpath.config.ConfigTypes.named;
import static dev.warmpath.config.ConfigTypes.texts;

import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.KvHashing;
import dev.warmpath.worker.Secret;
import dev.warmpath.worker.TlsFiles;
import dev.warmpath.worker.WorkerRole;
import dev.warmpath.worker.WorkerSpec;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The keys of a worker. */
final class WorkerKeys {
  private static final ConfigTable TABLE = new ConfigTable();

  private static final ConfigKey<String> URL =
      TABLE.live("url", TEXT, null, "Where it is: `http://`, `https://`, `grpc://` or `grpcs://`.");
  private static final ConfigKey<WorkerRole> ROLE =
      TABLE.live(
          "role",
          texts("role", "", WorkerRole::parse, "regular, prefill or decode"),
          null,
          "`regular`, `prefill` or `decode`; what is not set here is discovered.");
  private static final ConfigKey<EngineKind> ENGINE =
      TABLE.live(
          "engine",
          texts("engine", "", EngineKind::parse, "sglang, vllm or atom"),
          null,
          "`sglang`, `vllm` or `atom`.");
  private static final ConfigKey<Integer> DP_SIZE =
      TABLE.live(
          "dp_size", count(1, WorkerSpec.MAX_DP_SIZE), null, "Its number of data-parallel ranks.");
  private static final ConfigKey<Integer> BLOCK_SIZE =
      TABLE.live(
          "block_size", count(1, 1 << 20), null, "Tokens in a block (page) of its KV cache.");
  private static final ConfigKey<Long> KV_TOKENS =
      TABLE.live("kv_tokens", ConfigTypes.WHOLE, null, "The KV capacity of one rank in tokens.");
  private static final ConfigKey<List<String>> MODELS =
      TABLE.live("models", list(TEXT), List.of(), "The names of the models that it serves.");
  private static final ConfigKey<Map<String, String>> LABELS =
      TABLE.live("labels", named(TEXT), Map.of(), "Free labels, for filters and views.");
  private static final ConfigKey<String> HASH =
      TABLE.live("hashing.scheme", TEXT, null, "The scheme of its block hashes.");
  private static final ConfigKey<String> HASH_SEED =
      TABLE.live("hashing.seed", TEXT, null, "The engine's seed of them.");
  private static final ConfigKey<Integer> HASH_DCP =
      TABLE.live(
          "hashing.context_parallel", count(1, 1 << 16), null, "Ranks that share a context.");
  private static final ConfigKey<Boolean> HASH_EAGLE =
      TABLE.live("hashing.eagle", SWITCH, false, "Whether blocks overlap by a token.");
  private static final ConfigKey<Boolean> HASH_BARE =
      TABLE.live(
          "hashing.bare_multimodal_keys",
          SWITCH,
          false,
          "Whether images enter hashes by their identifier alone.");
  private static final ConfigKey<Secret> API_KEY =
      TABLE.live("api_key", SECRET, null, "Its own key, in place of the client's.");
  private static final ConfigKey<Secret> ADMIN_KEY =
      TABLE.live("admin_key", SECRET, null, "Its own key for admin calls.");

  private static final ConfigKey<Path> TLS_TRUST =
      TABLE.live(
          "tls.trust",
          PATH,
          null,
          "PEM file of the certificates that may sign its own, for `https` and `grpcs`.");
  private static final ConfigKey<Path> TLS_CERTIFICATE =
      TABLE.live(
          "tls.certificate",
          PATH,
          null,
          "PEM file of the certificate that this client shows it, with its chain (mTLS).");
  private static final ConfigKey<Path> TLS_KEY =
      TABLE.live("tls.key", PATH, null, "PEM file of its private key, PKCS #8 without a password.");

  static final ConfigType<WorkerSpec> WORKER =
      ConfigTypes.object(
          "worker", TABLE, WorkerSpec::parse, (values, place) -> spec(values), WorkerKeys::print);

  private WorkerKeys() {}

  private static WorkerSpec spec(ConfigValues values) {
    WorkerSpec.Builder builder = WorkerSpec.builder(values.get(URL));
    WorkerRole role = values.find(ROLE);
    if (role != null) {
      builder.role(role);
    }
    EngineKind engine = values.find(ENGINE);
    if (engine != null) {
      builder.engine(engine);
    }
    Integer dpSize = values.find(DP_SIZE);
    if (dpSize != null) {
      builder.dpSize(dpSize);
    }
    Integer blockSize = values.find(BLOCK_SIZE);
    if (blockSize != null) {
      builder.blockSize(blockSize);
    }
    Long kvTokens = values.find(KV_TOKENS);
    if (kvTokens != null) {
      builder.kvCapacityTokens(kvTokens);
    }
    String scheme = values.find(HASH);
    builder.hashing(
        new KvHashing(
            scheme == null ? null : scheme.toLowerCase(Locale.ROOT),
            values.find(HASH_SEED),
            values.find(HASH_DCP),
            values.get(HASH_EAGLE),
            values.get(HASH_BARE)));
    values.get(LABELS).forEach(builder::label);
    Path trust = values.find(TLS_TRUST);
    Path certificate = values.find(TLS_CERTIFICATE);
    Path key = values.find(TLS_KEY);
    if (trust != null || certificate != null || key != null) {
      builder.tls(new TlsFiles(trust, certificate, key));
    }
    return builder
        .models(values.get(MODELS))
        .apiKey(values.find(API_KEY))
        .adminKey(values.find(ADMIN_KEY))
        .build();
  }

  /** All but its keys, of which only the presence is told. */
  private static String print(WorkerSpec spec) {
    return spec.id()
        + ";"
        + spec.role()
        + ";"
        + spec.engine()
        + ";"
        + spec.dpSize()
        + ";"
        + spec.blockSize()
        + ";"
        + spec.kvCapacityTokens()
        + ";"
        + spec.models()
        + ";"
        + spec.labels()
        + ";"
        + spec.hashing()
        + ";"
        + spec.tls()
        + (spec.apiKey() == null ? "" : ";key")
        + (spec.adminKey() == null ? "" : ";admin-key");
  }
}
