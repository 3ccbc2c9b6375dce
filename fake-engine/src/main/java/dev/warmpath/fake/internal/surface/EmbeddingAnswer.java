package dev.warmpath.fake.internal.surface;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.worker.EngineKind;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/**
 * {@code /v1/embeddings}: unit vectors that depend on the tokens alone. A vector is the normalised
 * sum of one pseudo-random vector for each token, so texts that share words are near each other.
 */
final class EmbeddingAnswer implements Answer {
  private final boolean base64;
  private final int dimensions;

  EmbeddingAnswer(boolean base64, int dimensions) {
    this.base64 = base64;
    this.dimensions = dimensions;
  }

  @Override
  public void delta(
      EventSink sink,
      Generation generation,
      Generation.Item item,
      boolean first,
      @Nullable String finish) {
    throw new UnsupportedOperationException("embeddings are not streamed");
  }

  @Override
  public void endStream(EventSink sink, Generation generation) {
    throw new UnsupportedOperationException("embeddings are not streamed");
  }

  @Override
  public ObjectNode body(Generation generation) {
    Call call = generation.call();
    ObjectNode body = Json.object();
    if (generation.settings().kind() == EngineKind.VLLM) {
      body.put("id", call.id()).put("created", call.created());
    }
    body.put("object", "list").put("model", call.model());
    ArrayNode data = body.putArray("data");
    for (int i = 0; i < call.prompts().size(); i++) {
      ObjectNode one = data.addObject().put("object", "embedding").put("index", i);
      float[] vector = vector(call.prompts().get(i), dimensions);
      if (base64) {
        ByteBuffer bytes =
            ByteBuffer.allocate(vector.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asFloatBuffer().put(vector);
        one.put("embedding", Base64.getEncoder().encodeToString(bytes.array()));
      } else {
        ArrayNode numbers = one.putArray("embedding");
        for (float value : vector) {
          numbers.add(value);
        }
      }
    }
    ObjectNode usage = body.putObject("usage");
    usage.put("prompt_tokens", call.promptTokens());
    usage.put("total_tokens", call.promptTokens());
    usage.put("completion_tokens", 0);
    if (OpenAiAnswer.reportsCache(generation)) {
      usage.putObject("prompt_tokens_details").put("cached_tokens", generation.cachedTokens());
    } else {
      usage.putNull("prompt_tokens_details");
    }
    return body;
  }

  static float[] vector(int[] tokens, int dimensions) {
    double[] sum = new double[dimensions];
    for (int token : tokens) {
      long state = token * 0x9E3779B97F4A7C15L;
      for (int i = 0; i < dimensions; i++) {
        state = state * 6364136223846793005L + 1442695040888963407L;
        sum[i] += (state >> 40) / (double) (1 << 23);
      }
    }
    double norm = 0;
    for (double value : sum) {
      norm += value * value;
    }
    float[] vector = new float[dimensions];
    for (int i = 0; i < dimensions; i++) {
      vector[i] = (float) (norm == 0 ? 0 : sum[i] / Math.sqrt(norm));
    }
    return vector;
  }
}
