package dev.warmpath.prompt;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import dev.warmpath.api.Headers;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.WorkerRank;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Writes into a request what differs from engine to engine: where the data-parallel rank and the
 * request id go.
 *
 * <ul>
 *   <li>SGLang: rank in header {@code X-Data-Parallel-Rank}, id in body field {@code rid}. The id
 *       is left out of batches and {@code n > 1}, where older versions want a list.
 *   <li>vLLM: rank in header {@code X-data-parallel-rank}, id in header {@code X-Request-Id}.
 *   <li>ATOM: rank in body field {@code data_parallel_rank}; it takes no id.
 * </ul>
 */
public final class EngineAdapter {
  private EngineAdapter() {}

  /**
   * A request in the engine's own dress.
   *
   * @param headers the headers to send
   * @param body the body to send
   * @param rid the id by which the engine knows the request, or null where it knows none
   */
  public record Adapted(Headers headers, byte[] body, @Nullable String rid) {}

  /**
   * Names rank and id to the target's engine.
   *
   * @param target where the request goes
   * @param prompt what its body says
   * @param headers its headers, routing headers already removed
   * @param body its body; not changed, copied where a field is added
   * @param rid an id of fixed length, none a prefix of another, since SGLang aborts by prefix
   */
  public static Adapted adapt(
      WorkerRank target, Prompt prompt, Headers headers, byte[] body, String rid) {
    EngineKind engine = target.worker().engine();
    boolean named = target.rank().isPresent();
    return switch (engine) {
      case SGLANG -> {
        Headers out =
            named
                ? headers
                    .without("X-Data-Parallel-Rank")
                    .with("X-Data-Parallel-Rank", Integer.toString(target.rank().getAsInt()))
                : headers;
        String own = prompt.requestId();
        if (own != null || !prompt.single() || !isObject(body)) {
          yield new Adapted(out, body, own);
        }
        yield new Adapted(out, withField(body, "\"rid\":\"" + rid + "\""), rid);
      }
      case VLLM -> {
        Headers out = headers;
        if (named) {
          out =
              out.without("X-data-parallel-rank")
                  .with("X-data-parallel-rank", Integer.toString(target.rank().getAsInt()));
        }
        String own = out.get("X-Request-Id");
        yield own != null
            ? new Adapted(out, body, own)
            : new Adapted(out.with("X-Request-Id", rid), body, rid);
      }
      case ATOM ->
          new Adapted(
              headers,
              named && isObject(body)
                  ? withField(body, "\"data_parallel_rank\":" + target.rank().getAsInt())
                  : body,
              null);
      case UNKNOWN -> new Adapted(headers, body, null);
    };
  }

  private static int objectStart(byte[] body) {
    int i = 0;
    while (i < body.length
        && (body[i] == ' ' || body[i] == '\n' || body[i] == '\r' || body[i] == '\t')) {
      i++;
    }
    return i < body.length && body[i] == '{' ? i : -1;
  }

  private static boolean isObject(byte[] body) {
    return objectStart(body) >= 0;
  }

  /** The JSON object {@code body} with one more field in front. */
  private static byte[] withField(byte[] body, String field) {
    int open = objectStart(body);
    int next = open + 1;
    while (next < body.length && Character.isWhitespace(body[next])) {
      next++;
    }
    boolean empty = next < body.length && body[next] == '}';
    byte[] added = (empty ? field : field + ",").getBytes(StandardCharsets.UTF_8);
    byte[] out = new byte[body.length + added.length];
    System.arraycopy(body, 0, out, 0, open + 1);
    System.arraycopy(added, 0, out, open + 1, added.length);
    System.arraycopy(body, open + 1, out, open + 1 + added.length, body.length - open - 1);
    return out;
  }

  /** The body of SGLang's {@code /abort_request} for one request. */
  public static byte[] abortBody(String rid) {
    return ("{\"rid\":\"" + new String(JsonStringEncoder.getInstance().quoteAsString(rid)) + "\"}")
        .getBytes(StandardCharsets.UTF_8);
  }
}
