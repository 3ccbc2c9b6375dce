package dev.warmpath.examples;

import dev.warmpath.RouterClient;
import dev.warmpath.config.ConfigException;
import dev.warmpath.config.RouterConfig;
import dev.warmpath.grpc.GrpcTransport;
import dev.warmpath.grpc.umbp.UmbpClient;
import dev.warmpath.index.LookupSettings;
import dev.warmpath.okhttp.OkHttpTransport;
import dev.warmpath.policy.Policies;
import dev.warmpath.prompt.ModelFiles;
import dev.warmpath.prompt.ModelFilesException;
import dev.warmpath.prompt.tokenizer.TokenizerLoadException;
import dev.warmpath.worker.Secret;
import dev.warmpath.worker.WorkerId;
import dev.warmpath.worker.WorkerSpec;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Options of commands that talk to workers, and the client they make. */
final class RouterOptions {
  private static final String API_KEY = "WARMPATH_API_KEY";
  private static final String ADMIN_KEY = "WARMPATH_ADMIN_KEY";
  private static final Duration READY_WITHIN = Duration.ofSeconds(5);
  private static final Duration LOOKED_WITHIN = Duration.ofSeconds(2);

  @Option(
      names = "--worker",
      split = ",",
      paramLabel = "URL",
      description =
          "a worker, such as http://host:30000 or grpc://host:50051, optionally followed by"
              + " ;role=prefill ;engine=vllm; repeat or separate by commas")
  private List<String> workers = new ArrayList<>();

  @Option(
      names = "--model-dir",
      split = ",",
      paramLabel = "[NAME=]DIR",
      description =
          "a model's directory (tokenizer.json, tokenizer_config.json, chat template): its prompts"
              + " are rendered and tokenized as its engines do; without NAME= for every model")
  private List<String> modelDirs = new ArrayList<>();

  @Option(
      names = "--umbp",
      paramLabel = "HOST:PORT",
      description = "a UMBP master, which is asked who holds a prompt's blocks; takes --model-dir")
  private @Nullable String umbp;

  @Option(
      names = "--umbp-deadline",
      paramLabel = "DURATION",
      defaultValue = "PT0.02S",
      description = "how long a request waits for the master (default: ${DEFAULT-VALUE})")
  private Duration umbpDeadline = LookupSettings.DEFAULT_DEADLINE;

  @Spec(Spec.Target.MIXEE)
  @SuppressWarnings("NullAway.Init") // picocli sets it before the command runs
  private CommandSpec command;

  private final Map<String, ModelFiles> models = new LinkedHashMap<>();

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description =
          "everything else that a client takes, as YAML or JSON (core/CONFIGURATION.md); options"
              + " win over it")
  private @Nullable Path config;

  @Option(
      names = "--api-key-env",
      paramLabel = "NAME",
      description =
          "the environment variable that holds the workers' API key (default: WARMPATH_API_KEY,"
              + " unless the configuration has one)")
  private @Nullable String apiKeyEnv;

  @Option(
      names = "--admin-key-env",
      paramLabel = "NAME",
      description =
          "the environment variable that holds the workers' admin key (default:"
              + " WARMPATH_ADMIN_KEY, unless the configuration has one)")
  private @Nullable String adminKeyEnv;

  private @Nullable RouterConfig read;

  List<WorkerSpec> workers() {
    if (workers.isEmpty()) {
      RouterConfig file = config();
      if (file == null) {
        throw CommandFailure.usage("name at least one worker with --worker http://host:port");
      }
      return file.workers();
    }
    return workers.stream().map(WorkerSpec::parse).toList();
  }

  boolean given() {
    return !workers.isEmpty();
  }

  /** The ids of the workers that were named, in their order. */
  List<WorkerId> ids() {
    return workers().stream().map(WorkerSpec::id).distinct().toList();
  }

  /** The configuration file, read once, or null where none was named. */
  private @Nullable RouterConfig config() {
    if (config != null && read == null) {
      try {
        read = RouterConfig.read(config);
      } catch (ConfigException e) {
        throw CommandFailure.usage("--config " + e.getMessage());
      }
    }
    return read;
  }

  /** Whether a UMBP master is to be asked. */
  boolean asksMaster() {
    RouterConfig file = config();
    return umbp != null || (file != null && file.parts().asksMaster());
  }

  /** The files of the models that were named, each read once; "" stands for every model. */
  Map<String, ModelFiles> models() {
    if (models.isEmpty()) {
      for (String given : modelDirs) {
        int eq = given.indexOf('=');
        String name = eq < 0 ? "" : given.substring(0, eq);
        try {
          models.put(name, ModelFiles.of(Path.of(given.substring(eq + 1))));
        } catch (TokenizerLoadException | ModelFilesException e) {
          throw CommandFailure.usage("--model-dir " + given + ": " + e.getMessage());
        }
      }
    }
    return models;
  }

  /** A client for {@code specs} under {@code policy}. The caller closes it. */
  RouterClient.Builder client(List<WorkerSpec> specs, @Nullable String policy) {
    RouterClient.Builder builder = RouterClient.builder();
    RouterConfig file = config();
    if (file == null || !file.parts().carries("http")) {
      builder.transport(OkHttpTransport.create());
    }
    if (file == null || !file.parts().carries("grpc")) {
      builder.transport(GrpcTransport.create());
    }
    if (file != null && specs.equals(file.workers())) {
      builder.config(file);
    } else {
      if (file != null) {
        builder.config(file.withoutWorkers());
      }
      specs.forEach(builder::worker);
    }
    models()
        .forEach(
            (name, files) -> {
              if (name.isEmpty()) {
                builder.model(files);
              } else {
                builder.model(name, files);
              }
            });
    if (command.root().userObject() instanceof Main main) {
      Integer threads = main.logging().tokenizeThreads();
      if (threads != null) {
        if (threads < 1) {
          throw CommandFailure.usage("--tokenize-threads must be at least 1");
        }
        builder.tokenizeThreads(threads);
      }
    }
    if (umbp != null) {
      ask(umbp, builder);
    }
    if (policy != null) {
      builder.policy(Policies.parse(policy)).prefillPolicy(Policies.parse(policy));
    }
    if (apiKeyEnv != null || file == null || file.apiKey() == null) {
      builder.apiKey(key(apiKeyEnv == null ? API_KEY : apiKeyEnv));
    }
    if (adminKeyEnv != null || file == null || file.adminKey() == null) {
      builder.adminKey(key(adminKeyEnv == null ? ADMIN_KEY : adminKeyEnv));
    }
    return builder;
  }

  private static @Nullable Secret key(String variable) {
    String key = System.getenv(variable);
    return key == null || key.isEmpty() ? null : Secret.of(key);
  }

  private void ask(String master, RouterClient.Builder builder) {
    if (models().isEmpty()) {
      throw CommandFailure.usage("--umbp takes --model-dir: blocks are named by their tokens");
    }
    try {
      builder.lookup(LookupSettings.builder().deadline(umbpDeadline).build());
      builder.blockLocator(UmbpClient.to(master));
    } catch (IllegalArgumentException e) {
      throw CommandFailure.usage("--umbp " + master + ": " + e.getMessage());
    }
  }

  /**
   * The same, once a worker is up and all have been looked at, or had a moment for it: a command's
   * only request is to find what a client that has been running would.
   */
  RouterClient connect(@Nullable String policy) {
    List<WorkerSpec> specs = workers();
    RouterClient router = client(specs, policy).build();
    if (!router.awaitReady(READY_WITHIN)) {
      String reasons = Views.reasons(router);
      router.close();
      throw CommandFailure.work(
          "no worker is up after " + READY_WITHIN.toSeconds() + " s: " + reasons);
    }
    Views.awaitLooked(router, LOOKED_WITHIN);
    return router;
  }

  /** The same, whether workers are up or not, after each had the time of one look. */
  RouterClient look() {
    List<WorkerSpec> specs = workers();
    RouterClient router = client(specs, null).build();
    router.awaitReady(READY_WITHIN);
    Views.awaitLooked(router, READY_WITHIN);
    return router;
  }

  /** The same, as soon as it is known of each worker which engine it is, well or not. */
  RouterClient reach() {
    List<WorkerSpec> specs = workers();
    RouterClient router = client(specs, null).build();
    Views.awaitKnown(router, READY_WITHIN);
    return router;
  }
}
