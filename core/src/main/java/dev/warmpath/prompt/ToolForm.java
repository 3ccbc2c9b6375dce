package dev.warmpath.prompt;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How an engine hands a request's tools to the chat template. Engines parse tools into classes of
 * their own and write those out again, which may reorder fields and fill in absent ones.
 */
enum ToolForm {
  /** As the request has them. */
  AS_GIVEN,
  /** vLLM: {@code type}, {@code function} with name, description and parameters, then the rest. */
  VLLM,
  /** SGLang: {@code function} with description, name, parameters and strict; nothing else. */
  SGLANG,
  /** SGLang up to 2025: the function alone, without the tool around it. */
  SGLANG_FUNCTION;

  /** The tools in this form. */
  List<@Nullable Object> apply(List<?> tools) throws NotExactException {
    List<@Nullable Object> out = new ArrayList<>(tools.size());
    for (Object tool : tools) {
      out.add(this == AS_GIVEN ? tool : dumped(tool));
    }
    return out;
  }

  private Object dumped(@Nullable Object tool) throws NotExactException {
    if (!(tool instanceof Map<?, ?> map)
        || !(map.get("function") instanceof Map<?, ?> function)
        || !(function.get("name") instanceof String)) {
      throw new NotExactException("a tool is no function with a name");
    }
    if (this == SGLANG_FUNCTION) {
      return sglangFunction(function);
    }
    Map<String, @Nullable Object> out = new LinkedHashMap<>();
    out.put("type", map.containsKey("type") ? map.get("type") : "function");
    if (this == SGLANG) {
      out.put("function", sglangFunction(function));
      return out;
    }
    Map<String, @Nullable Object> inner = new LinkedHashMap<>();
    for (String name : List.of("name", "description", "parameters")) {
      inner.put(name, function.get(name));
    }
    function.forEach((name, value) -> inner.putIfAbsent(String.valueOf(name), value));
    out.put("function", inner);
    map.forEach((name, value) -> out.putIfAbsent(String.valueOf(name), value));
    return out;
  }

  private static Map<String, @Nullable Object> sglangFunction(Map<?, ?> function) {
    Map<String, @Nullable Object> out = new LinkedHashMap<>();
    for (String name : List.of("description", "name", "parameters")) {
      out.put(name, function.get(name));
    }
    out.put("strict", Boolean.TRUE.equals(function.get("strict")));
    return out;
  }

  /** The forms SGLang may have, the newest first. */
  static List<ToolForm> ofSglang() {
    return Arrays.asList(SGLANG, AS_GIVEN, SGLANG_FUNCTION);
  }
}
