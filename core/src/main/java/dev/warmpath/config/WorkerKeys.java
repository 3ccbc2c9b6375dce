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
import org.jspecify.annotations.Nullable;

/** The keys of a worker. */
final class WorkerKeys {
  /** A worker, as a line or as an object. */
  static final ConfigType<WorkerSpec> WORKER = type("worker", new WorkerKeys(true), true);

  /** What workers have in common: the same, of an address that stands for all. */
  static final ConfigType<WorkerSpec> COMMON =
      type("worker without url", new WorkerKeys(false), false);

  private static final String ANY = "http://any:1";

  private final ConfigTable table = new ConfigTable();
  private final @Nullable ConfigKey<String> url;
  private final ConfigKey<WorkerRole> role;
  private final ConfigKey<EngineKind> engine;
  private final ConfigKey<Integer> dpSize;
  private final ConfigKey<Integer> blockSize;
  private final ConfigKey<Long> kvTokens;
  private final ConfigKey<List<String>> models;
  private final ConfigKey<Map<String, String>> labels;
  private final ConfigKey<String> hash;
  private final ConfigKey<String> hashSeed;
  private final ConfigKey<Integer> hashDcp;
  private final ConfigKey<Boolean> hashEagle;
  private final ConfigKey<Boolean> hashBare;
  private final ConfigKey<Secret> apiKey;
  private final ConfigKey<Secret> adminKey;
  private final ConfigKey<Path> tlsTrust;
  private final ConfigKey<Path> tlsCertificate;
  private final ConfigKey<Path> tlsKey;

  private WorkerKeys(boolean named) {
    url =
        named
            ? table.live(
                "url", TEXT, null, "Where it is: `http://`, `https://`, `grpc://` or `grpcs://`.")
            : null;
    role =
        table.live(
            "role",
            texts("role", "", WorkerRole::parse, "regular, prefill or decode"),
            null,
            "`regular`, `prefill` or `decode`; what is not set here is discovered.");
    engine =
        table.live(
            "engine",
            texts("engine", "", EngineKind::parse, "sglang, vllm or atom"),
            null,
            "`sglang`, `vllm` or `atom`.");
    dpSize =
        table.live(
            "dp_size",
            count(1, WorkerSpec.MAX_DP_SIZE),
            null,
            "Its number of data-parallel ranks.");
    blockSize =
        table.live(
            "block_size", count(1, 1 << 20), null, "Tokens in a block (page) of its KV cache.");
    kvTokens =
        table.live("kv_tokens", ConfigTypes.WHOLE, null, "The KV capacity of one rank in tokens.");
    models = table.live("models", list(TEXT), List.of(), "The names of the models that it serves.");
    labels = table.live("labels", named(TEXT), Map.of(), "Free labels, for filters and views.");
    hash = table.live("hashing.scheme", TEXT, null, "The scheme of its block hashes.");
    hashSeed = table.live("hashing.seed", TEXT, null, "The engine's seed of them.");
    hashDcp =
        table.live(
            "hashing.context_parallel", count(1, 1 << 16), null, "Ranks that share a context.");
    hashEagle = table.live("hashing.eagle", SWITCH, false, "Whether blocks overlap by a token.");
    hashBare =
        table.live(
            "hashing.bare_multimodal_keys",
            SWITCH,
            false,
            "Whether images enter hashes by their identifier alone.");
    apiKey = table.live("api_key", SECRET, null, "Its own key, in place of the client's.");
    adminKey = table.live("admin_key", SECRET, null, "Its own key for admin calls.");
    tlsTrust =
        table.live(
            "tls.trust",
            PATH,
            null,
            "PEM file of the certificates that may sign its own, for `https` and `grpcs`.");
    tlsCertificate =
        table.live(
            "tls.certificate",
            PATH,
            null,
            "PEM file of the certificate that this client shows it, with its chain (mTLS).");
    tlsKey =
        table.live(
            "tls.key", PATH, null, "PEM file of its private key, PKCS #8 without a password.");
  }

  private static ConfigType<WorkerSpec> type(String label, WorkerKeys keys, boolean line) {
    return ConfigTypes.object(
        label,
        keys.table,
        line ? WorkerSpec::parse : null,
        (values, place) -> keys.spec(values),
        WorkerKeys::print);
  }

  private WorkerSpec spec(ConfigValues values) {
    WorkerSpec.Builder builder = WorkerSpec.builder(url == null ? ANY : values.get(url));
    values.tell(role, builder::role);
    values.tell(engine, builder::engine);
    values.tell(dpSize, builder::dpSize);
    values.tell(blockSize, builder::blockSize);
    values.tell(kvTokens, builder::kvCapacityTokens);
    String scheme = values.find(hash);
    builder.hashing(
        new KvHashing(
            scheme == null ? null : scheme.toLowerCase(Locale.ROOT),
            values.find(hashSeed),
            values.find(hashDcp),
            values.get(hashEagle),
            values.get(hashBare)));
    values.get(labels).forEach(builder::label);
    Path trust = values.find(tlsTrust);
    Path certificate = values.find(tlsCertificate);
    Path key = values.find(tlsKey);
    if (trust != null || certificate != null || key != null) {
      builder.tls(new TlsFiles(trust, certificate, key));
    }
    return builder
        .models(values.get(models))
        .apiKey(values.find(apiKey))
        .adminKey(values.find(adminKey))
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
