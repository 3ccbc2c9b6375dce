package dev.warmpath.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.RouterClient;
import dev.warmpath.health.DegradationMode;
import dev.warmpath.health.DegradationSettings;
import dev.warmpath.policy.HomingSettings;
import dev.warmpath.policy.LinearCostWeights;
import dev.warmpath.worker.DnsDiscovery;
import dev.warmpath.worker.FileDiscovery;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Holds the file to what the builder takes: every call of it, and every value of the settings that
 * it takes, has a key of its own name, or stands here with the other keys that it has, or with the
 * reason why it has none.
 */
class BuilderKeysTest {
  private static final String CODE = "code of the application's";
  private static final String TESTS = "time, threads and chance of tests and simulations";
  private static final String FILE = "names the file itself";
  private static final String OTHER_CALL = "another way to say what another call says";

  /** What has no key, and why. */
  private static final Map<String, String> WITHOUT =
      Map.ofEntries(
          Map.entry("RouterClient.config(RouterConfig)", FILE),
          Map.entry("RouterClient.config(Path)", FILE),
          Map.entry("RouterClient.worker(String)", OTHER_CALL),
          Map.entry("RouterClient.listener(RouterListener)", CODE),
          Map.entry("RouterClient.healthListener(HealthListener)", CODE),
          Map.entry("RouterClient.tracer(RouterTracer)", CODE),
          Map.entry("RouterClient.promptSource(PromptSource)", CODE),
          Map.entry("RouterClient.kvSubscriber(KvSubscriber)", CODE),
          Map.entry("RouterClient.executor(Executor)", "threads are the application's"),
          Map.entry("RouterClient.healthExecutor(Executor)", TESTS),
          Map.entry("RouterClient.scheduler(Scheduler)", TESTS),
          Map.entry(
              "RouterClient.knowledge(KnowledgeRouting)", "made by code; its builder has keys"),
          Map.entry("KnowledgeRouting.retriever(KnowledgeRetriever)", CODE),
          Map.entry("KnowledgeRouting.otherwise(Builder)", "takes what the file says"),
          Map.entry("KnowledgeRouting.scheduler(Scheduler)", TESTS),
          Map.entry("KnowledgeRouting.executor(Executor)", TESTS),
          Map.entry("KnowledgeRouting.clock(InstantSource)", TESTS),
          Map.entry("Timeouts.total", "what is left of a request's deadline; see deadline"),
          Map.entry("HomingSettings.branches", "for comparison only"),
          Map.entry("FileDiscovery.scheduler(Scheduler)", TESTS),
          Map.entry("DnsDiscovery.scheduler(Scheduler)", TESTS),
          Map.entry("DnsDiscovery.seed(long)", TESTS),
          Map.entry("DnsDiscovery.resolver(HostResolver)", CODE),
          Map.entry("WorkerSpec.addModel(String)", OTHER_CALL));

  /** What has other keys than those of its name. A key that ends in a dot stands for all below. */
  private static final Map<String, List<String>> NAMED_OTHERWISE =
      Map.ofEntries(
          Map.entry("RouterClient.worker(WorkerSpec)", List.of("workers", "workers[].url")),
          Map.entry(
              "RouterClient.discovery(WorkerDiscovery)",
              List.of(
                  "discovery.files",
                  "discovery.dns",
                  "discovery.kubernetes",
                  "discovery.kubernetes[].")),
          Map.entry("RouterClient.transport(Transport)", List.of("transports", "http.", "grpc.")),
          Map.entry("RouterClient.blockLocator(BlockLocator)", List.of("umbp.")),
          Map.entry(
              "KnowledgeRouting.transport(KnowledgeTransport)",
              List.of("knowledge.enabled", "knowledge.key")),
          Map.entry("RouterClient.model(String,ModelFiles)", List.of("models", "models.*.")),
          Map.entry("RouterClient.model(ModelFiles)", List.of("models")),
          Map.entry("RouterClient.templateClock(Clock)", List.of("template_zone")),
          Map.entry("RouterClient.profile(String,Profile)", List.of("profiles")),
          Map.entry("WorkerSpec.kvCapacityTokens(long)", List.of("workers[].kv_tokens")),
          Map.entry("WorkerSpec.label(String,String)", List.of("workers[].labels")),
          Map.entry("DegradationSettings.rules", List.of()),
          Map.entry(
              "LookupSettings.encoder(EngineKind,BlockKeyEncoder)",
              List.of("lookup.vllm_prefix", "lookup.vllm_group")),
          Map.entry("KnowledgeRouting.node(String,URI)", List.of("knowledge.nodes")),
          Map.entry(
              "KnowledgeRouting.link(String,String,KnowledgeLink)",
              List.of("knowledge.links", "knowledge.links[].")),
          Map.entry("KnowledgeRouting.capacity(String,int)", List.of("knowledge.capacities")),
          Map.entry("OverloadThresholds.requestsPerSecond", List.of("knowledge.overload.qps_1m")),
          Map.entry("OverloadThresholds.queueMillis", List.of("knowledge.overload.queue_ms")),
          Map.entry("FileDiscovery.workers(UnaryOperator)", List.of("discovery.files[].workers")),
          Map.entry("DnsDiscovery.workers(UnaryOperator)", List.of("discovery.dns[].workers")),
          Map.entry(
              "DnsDiscovery.interval(Duration,Duration)",
              List.of("discovery.dns[].min_interval", "discovery.dns[].max_interval")));

  /** Settings whose values stand beside those of what they are part of. */
  private static final Map<String, String> BESIDE =
      Map.of("KnowledgeRouting.settings(KnowledgeSettings)", "knowledge.");

  /** Keys that no call stands for, and why. */
  private static final Map<String, String> OF_THE_FILE_ALONE =
      Map.of(
          "reload_interval", "how the file is followed",
          "status_decisions", "for operators",
          "kv_events.enabled", "said by the call itself",
          "discovery.files[].path", "said when a builder is made",
          "discovery.dns[].host", "said when a builder is made",
          "discovery.dns[].port", "said when a builder is made");

  private final Set<String> keys = documented();
  private final Set<String> listed = new TreeSet<>();
  private final Set<String> reached = new LinkedHashSet<>();
  private final List<String> missing = new ArrayList<>();

  private static Set<String> documented() {
    return ConfigReference.markdown()
        .lines()
        .filter(line -> line.startsWith("| `"))
        .map(line -> line.substring(3, line.indexOf('`', 3)))
        .collect(Collectors.toCollection(LinkedHashSet::new));
  }

  @Test
  void everyCallHasAKeyOrAReasonAndEveryKeyACall() {
    calls(RouterClient.Builder.class, "");
    values(HomingSettings.class, "homing.");
    values(LinearCostWeights.class, "linear_cost.");
    calls(FileDiscovery.Builder.class, "discovery.files[].");
    calls(DnsDiscovery.Builder.class, "discovery.dns[].");
    for (DegradationMode mode : DegradationSettings.DEFAULT.rules().keySet()) {
      String prefix = "health.degradation." + mode.label() + ".";
      values(DegradationSettings.Rule.class, prefix);
      reach(prefix + "enabled"); // without(mode)
    }

    assertThat(missing).as("without a key: give it one, or a reason").isEmpty();
    assertThat(keys)
        .as("keys that nothing stands for: name what they say, or why they stand alone")
        .isEqualTo(
            Stream.concat(reached.stream(), OF_THE_FILE_ALONE.keySet().stream())
                .collect(Collectors.toSet()));
    assertThat(listed)
        .as("what is listed here is there")
        .isEqualTo(
            Stream.of(WITHOUT.keySet(), NAMED_OTHERWISE.keySet(), BESIDE.keySet())
                .flatMap(Set::stream)
                .collect(Collectors.toCollection(TreeSet::new)));
  }

  @Test
  void aCallWithoutAKeyIsFound() {
    calls(Grown.class, "");
    assertThat(missing).containsExactly("BuilderKeysTest.shoeSize(int)");
  }

  /** A builder that was given a call which the file knows nothing of. */
  @SuppressWarnings("unused") // by reflection
  public static final class Grown {
    public Grown seed(long seed) {
      return this;
    }

    public Grown shoeSize(int size) {
      return this;
    }
  }

  private void calls(Class<?> builder, String prefix) {
    Class<?> owner = builder.getEnclosingClass();
    for (Method call : builder.getMethods()) {
      if (!Modifier.isStatic(call.getModifiers()) && call.getReturnType() == builder) {
        String parameters =
            Arrays.stream(call.getParameterTypes())
                .map(Class::getSimpleName)
                .collect(Collectors.joining(","));
        String id = owner.getSimpleName() + "." + call.getName() + "(" + parameters + ")";
        look(id, prefix + snake(call.getName()), List.of(call.getParameterTypes()));
      }
    }
  }

  private void values(Class<?> settings, String prefix) {
    for (RecordComponent value : settings.getRecordComponents()) {
      look(
          settings.getSimpleName() + "." + value.getName(),
          prefix + snake(value.getName()),
          List.of(value.getType()));
    }
  }

  private void look(String id, String key, List<Class<?>> types) {
    if (WITHOUT.containsKey(id)) {
      listed.add(id);
      return;
    }
    List<String> others = NAMED_OTHERWISE.get(id);
    if (others != null) {
      listed.add(id);
      others.forEach(this::reach);
      if (!id.startsWith("RouterClient.worker") && !id.startsWith("RouterClient.profile")) {
        return;
      }
      key = others.get(0) + (id.contains("worker") ? "[]" : ".*");
    } else if (keys.contains(key)) {
      reach(key);
      return;
    }
    String beside = BESIDE.get(id);
    if (beside != null) {
      listed.add(id);
    }
    String below = beside == null ? key + "." : beside;
    boolean settings = false;
    for (Class<?> type : types) {
      settings |= within(type, below);
    }
    if (!settings) {
      missing.add(id);
    }
  }

  private void reach(String key) {
    if (key.endsWith(".")) {
      keys.stream().filter(each -> each.startsWith(key)).forEach(reached::add);
    } else {
      reached.add(key);
    }
  }

  /** Looks at settings of this project's; false where it is none. */
  private boolean within(Class<?> type, String prefix) {
    if (!type.getName().startsWith("dev.warmpath.")) {
      return false;
    }
    if (type.isRecord()) {
      values(type, prefix);
      return true;
    }
    if (type.getSimpleName().equals("Builder")) {
      calls(type, prefix);
      return true;
    }
    for (Class<?> inner : type.getClasses()) {
      if (inner.getSimpleName().equals("Builder")) {
        calls(inner, prefix);
        return true;
      }
    }
    return false;
  }

  private static String snake(String name) {
    return name.replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT);
  }
}
