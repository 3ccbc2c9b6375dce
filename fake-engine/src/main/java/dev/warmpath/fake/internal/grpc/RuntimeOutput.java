package dev.warmpath.fake.internal.grpc;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.fake.fault.Fault;
import dev.warmpath.fake.internal.surface.Generation;
import dev.warmpath.fake.internal.surface.SglangSurface;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A generation as SGLang's native server tells it: every message has all there is so far. What of a
 * call of several sequences is whose, {@code index} in the message's facts says.
 *
 * @param <T> the response message
 */
final class RuntimeOutput<T> extends GrpcOutput<T> {
  /** Makes a response message. */
  interface Message<T> {
    T of(Generation.Item item, Map<String, String> facts, boolean finished);
  }

  private final boolean stream;
  private final Message<T> message;

  RuntimeOutput(GrpcCall<T> call, @Nullable Fault fault, boolean stream, Message<T> message) {
    super(call, fault);
    this.stream = stream;
    this.message = message;
  }

  @Override
  public void step(Generation generation, Generation.Item item, boolean first) {
    if (stream) {
      boolean finished = generation.items().stream().noneMatch(each -> each.finish().isEmpty());
      send(generation, item, finished);
    }
  }

  /** Without streaming every sequence comes by itself, the last one finishing the call. */
  @Override
  public void end(Generation generation) {
    if (!stream) {
      int last = generation.items().size() - 1;
      for (int i = 0; i <= last; i++) {
        send(generation, generation.items().get(i), i == last);
      }
    }
    finish();
  }

  private void send(Generation generation, Generation.Item item, boolean finished) {
    send(message.of(item, facts(generation, item), finished));
  }

  private static Map<String, String> facts(Generation generation, Generation.Item item) {
    ObjectNode facts = SglangSurface.metaInfo(generation, item);
    if (generation.items().size() > 1) {
      facts.put("index", item.index());
    }
    Map<String, String> texts = new TreeMap<>();
    for (Map.Entry<String, JsonNode> fact : facts.properties()) {
      JsonNode value = fact.getValue();
      texts.put(fact.getKey(), value.isTextual() ? value.asText() : value.toString());
    }
    return texts;
  }
}
