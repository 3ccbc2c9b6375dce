package dev.warmpath.fake.internal.surface;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.fake.fault.Fault;
import dev.warmpath.fake.fault.Faults;
import java.util.ArrayList;
import java.util.List;

/**
 * The fake engines' own endpoint {@code /admin/config}, which no engine has: {@code {"faults":
 * "5xx:rate=0.1;slow:factor=2"}}, or a list of such texts, takes the place of all faults at once
 * or, if anything in it is wrong, changes nothing. An empty text clears them.
 */
final class AdminConfig {
  private AdminConfig() {}

  /** Applies a body. */
  static void apply(ObjectNode body, Faults faults) {
    body.fieldNames()
        .forEachRemaining(
            name -> {
              if (!name.equals("faults")) {
                throw new IllegalArgumentException(
                    "unknown setting '" + name + "'; there is faults");
              }
            });
    JsonNode specs = body.path("faults");
    List<Fault> wanted = new ArrayList<>();
    if (specs.isTextual()) {
      parse(specs, wanted);
    } else if (specs.isArray()) {
      specs.forEach(spec -> parse(spec, wanted));
    } else {
      throw new IllegalArgumentException("faults must be a text or a list of texts");
    }
    faults.set(wanted);
  }

  private static void parse(JsonNode spec, List<Fault> wanted) {
    if (!spec.isTextual()) {
      throw new IllegalArgumentException("faults must be a text or a list of texts");
    }
    if (!spec.asText().isBlank()) {
      wanted.addAll(Fault.parse(spec.asText()));
    }
  }

  /** What is in force. */
  static ObjectNode show(Faults faults) {
    ObjectNode config = Json.object();
    var list = config.putArray("faults");
    faults.armed().forEach(fault -> list.add(fault.toString()));
    return config;
  }
}
