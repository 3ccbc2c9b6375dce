package dev.warmpath.hash;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

/** Reads the hash vectors from the test resources. */
final class Vectors {

  private static final ObjectMapper MAPPER = new ObjectMapper();

  private Vectors() {}

  record Case(
      String name,
      ObjectNode params,
      long[] tokens,
      List<String> digests,
      List<String> signed,
      List<String> unsigned,
      List<String> local,
      JsonNode node) {

    @Override
    public String toString() {
      return name;
    }
  }

  static List<Case> read(String file) {
    List<Case> cases = new ArrayList<>();
    for (JsonNode node : nodes(file)) {
      long[] tokens = new long[node.path("token_ids").size()];
      for (int i = 0; i < tokens.length; i++) {
        tokens[i] = node.path("token_ids").get(i).longValue();
      }
      cases.add(
          new Case(
              node.path("name").textValue(),
              node.path("params").deepCopy(),
              tokens,
              texts(node, "expected_digests_hex"),
              texts(node, "expected_i64"),
              texts(node, "expected_u64"),
              texts(node, "expected_local_u64"),
              node));
    }
    return cases;
  }

  static JsonNode nodes(String file) {
    try (InputStream in = Vectors.class.getResourceAsStream("/vectors/hash/" + file + ".json")) {
      return MAPPER.readTree(in).path("cases");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<String> texts(JsonNode node, String key) {
    List<String> texts = new ArrayList<>();
    node.path(key).forEach(value -> texts.add(value.textValue()));
    return texts;
  }
}
