package dev.warmpath.examples;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.RouterClient;
import dev.warmpath.api.RequestRejectedException;
import dev.warmpath.api.RouteDecision;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.api.RouterResponse;
import dev.warmpath.api.RouterStream;
import dev.warmpath.api.StreamEvent;
import dev.warmpath.api.Usage;
import dev.warmpath.worker.ServedModel;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** What {@code chat} and {@code complete} share: one request, its answer streamed to stdout. */
abstract class GenerateCommand implements Callable<Integer> {
  private static final ObjectMapper JSON = new ObjectMapper();

  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it before the command runs
  private CommandSpec spec;

  @Mixin private RouterOptions router = new RouterOptions();
  @Mixin private BodyOptions body = new BodyOptions();

  @Parameters(arity = "0..1", paramLabel = "PROMPT", description = "what to say")
  private @Nullable String prompt;

  @Option(
      names = "--model",
      paramLabel = "NAME",
      description = "the model (default: the first that the workers serve)")
  private @Nullable String model;

  @Option(
      names = "--max-tokens",
      paramLabel = "N",
      defaultValue = "256",
      description = "the answer's longest length (default: ${DEFAULT-VALUE})")
  private int maxTokens = 256;

  @Option(names = "--policy", paramLabel = "P", description = "the policy, such as pin>homing")
  private @Nullable String policy;

  @Option(names = "--why", description = "print the decision, too")
  private boolean why;

  @Option(names = "--json", description = "print one JSON document instead of streaming")
  private boolean json;

  /** Puts the prompt into a body. */
  abstract BodyOptions.Built built(ObjectNode body, String prompt);

  /** The text in a choice of a whole answer, or of an event. */
  abstract String text(JsonNode choice, boolean event);

  @Override
  public Integer call() throws Exception {
    if ((prompt == null) == !body.fromFile()) {
      throw CommandFailure.usage("give a PROMPT or --body FILE, one of them");
    }
    try (RouterClient client = router.connect(policy)) {
      RouterRequest request = body.request(prompt == null ? null : build(client, prompt));
      boolean streamed = asksForStream(request);
      return streamed ? stream(client, request) : whole(client, request);
    }
  }

  private BodyOptions.Built build(RouterClient client, String said) {
    ObjectNode made = Json.object();
    String named =
        model != null
            ? model
            : client.models().stream().map(ServedModel::id).findFirst().orElse("default");
    made.put("model", named);
    made.put("max_tokens", maxTokens);
    if (!json) {
      made.put("stream", true);
      made.putObject("stream_options").put("include_usage", true);
    }
    return built(made, said);
  }

  private static boolean asksForStream(RouterRequest request) throws IOException {
    try {
      return JSON.readTree(request.body()).path("stream").asBoolean(false);
    } catch (com.fasterxml.jackson.core.JsonProcessingException e) {
      return false; // the router says what is wrong with it
    }
  }

  private int whole(RouterClient client, RouterRequest request) throws IOException {
    RouterResponse response = client.send(request);
    PrintWriter out = spec.commandLine().getOut();
    String said =
        response.successful()
            ? text(JSON.readTree(response.body()).path("choices").path(0), false)
            : response.text();
    if (json) {
      out.println(
          Json.document(document(response.status(), said, response.usage(), response.decision())));
    } else {
      out.println(said);
      explain(response.decision());
    }
    return response.successful() ? 0 : 1;
  }

  private int stream(RouterClient client, RouterRequest request) throws IOException {
    PrintWriter out = spec.commandLine().getOut();
    StringBuilder said = new StringBuilder();
    try (RouterStream stream = client.stream(request)) {
      for (StreamEvent event : stream) {
        String part = text(JSON.readTree(event.data()).path("choices").path(0), true);
        said.append(part);
        if (!json) {
          out.print(part);
          out.flush();
        }
      }
      if (json) {
        out.println(
            Json.document(
                document(stream.status(), said.toString(), stream.usage(), stream.decision())));
      } else {
        out.println();
        explain(stream.decision());
      }
      return 0;
    } catch (RequestRejectedException e) {
      throw CommandFailure.work(e.getMessage() + ": " + e.text());
    }
  }

  private void explain(RouteDecision decision) {
    if (why) {
      PrintWriter out = spec.commandLine().getOut();
      out.println();
      out.print(ExplainCommand.text(decision));
      out.flush();
    }
  }

  private static ObjectNode document(
      int status, String text, @Nullable Usage usage, RouteDecision decision) {
    ObjectNode out = Json.object();
    out.put("status", status);
    out.put("text", text);
    out.set("usage", Json.usage(usage));
    out.set("decision", Json.decision(decision));
    return out;
  }
}
