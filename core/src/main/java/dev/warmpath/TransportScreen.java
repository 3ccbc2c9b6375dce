package dev.warmpath;

import dev.warmpath.api.RouterRequest;
import dev.warmpath.dispatch.RequestScreen;
import dev.warmpath.prompt.Prompt;
import dev.warmpath.transport.Draft;
import dev.warmpath.transport.PromptTokens;
import dev.warmpath.transport.Transport;
import dev.warmpath.worker.Worker;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Asks the transports of workers what they can carry; the first that serves a scheme counts. */
final class TransportScreen implements RequestScreen {
  private final Map<String, Transport> choosy = new LinkedHashMap<>();

  TransportScreen(List<Transport> transports) {
    Map<String, Transport> serving = new LinkedHashMap<>();
    for (Transport transport : transports) {
      transport.schemes().forEach(scheme -> serving.putIfAbsent(scheme, transport));
    }
    serving.forEach(
        (scheme, transport) -> {
          if (transport.choosy()) {
            choosy.put(scheme, transport);
          }
        });
  }

  @Override
  public @Nullable Function<Worker, @Nullable String> look(RouterRequest request, Prompt prompt) {
    if (choosy.isEmpty()) {
      return null;
    }
    PromptTokens tokens = prompt.transportTokens();
    Draft draft = new Draft(request, tokens, tokens == null ? noTokens(prompt) : null);
    Map<Transport, Function<Worker, @Nullable String>> verdicts = new LinkedHashMap<>(2);
    return worker -> {
      Transport transport = choosy.get(worker.id().scheme());
      return transport == null
          ? null
          : verdicts.computeIfAbsent(transport, asked -> asked.examine(draft)).apply(worker);
    };
  }

  @Override
  public @Nullable PromptTokens tokens(Worker worker, Prompt prompt) {
    return choosy.containsKey(worker.id().scheme()) ? prompt.transportTokens() : null;
  }

  private static String noTokens(Prompt prompt) {
    String reason = prompt.inexactReason();
    if (reason != null) {
      return "its prompt has no tokens (" + reason + ")";
    }
    String model = prompt.model();
    return "its prompt has no tokens: give the client the files of "
        + (model == null ? "the model" : "model '" + model + "'")
        + " (RouterClient.Builder.model, --model-dir)";
  }
}
