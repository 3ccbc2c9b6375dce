package dev.warmpath.examples;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * A chat as an agent has it: several turns, most with tools, whose calls and results come back as
 * messages; texts in many scripts, some as lists of parts. The same seed gives the same chat.
 */
final class ChatWithTools {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** Agents of one kind share their instructions and tools. */
  private static final int KINDS_OF_AGENT = 12;

  private static final String[] WORDS = {
    "the",
    "cache",
    "holds",
    "what",
    "was",
    "said",
    "before",
    "don't",
    "we'll",
    "HTTPServer",
    "snake_case",
    "naïve",
    "Straße",
    "İstanbul",
    "ΣΊΣΥΦΟΣ",
    "東京",
    "你好，世界",
    "こんにちは",
    "안녕하세요",
    "नमस्ते",
    "สวัสดี",
    "مرحبا",
    "שלום",
    "Привет",
    "𝒳𝓎",
    "1,234.56",
    "2025-07-10",
    "0x7f",
    "3½",
    "😀",
    "👩‍💻",
    "👍🏽",
    "🇩🇪",
    "❤️",
    "e\u0301",
    "\u00a0",
    "\u200b",
    "\"quoted\"",
    "it's",
    "a/b\\c",
    "<b>bold</b>",
    "{\"json\": [1, 2.0, null]}",
    "for i in range(10):",
    "    return x",
    "# title",
    "| a | b |",
    "...",
    "—",
    "<think>",
    "</tool_call>",
    "<|im_end|>",
    "tool_call"
  };
  private static final String[] SEPARATORS = {" ", " ", " ", " ", "  ", "\n", "\n\n", "\t", ", "};

  private final Random random;
  private final ObjectNode body;
  private final ArrayNode messages;
  private final List<String> tools = new ArrayList<>();
  private int turnsLeft;
  private int calls;
  private int resultsDue;

  ChatWithTools(long seed, String model) {
    this.random = new Random(seed);
    this.body = JSON.createObjectNode().put("model", model);
    this.messages = JSON.createArrayNode();
    this.turnsLeft = 3 + random.nextInt(6);
    Random kind = new Random(random.nextInt(KINDS_OF_AGENT));
    if (kind.nextInt(6) > 0) {
      message("system").put("content", text(kind, 20 + kind.nextInt(150)));
    }
    if (kind.nextInt(4) > 0) {
      addTools(kind);
    }
    if (random.nextInt(4) == 0) {
      body.putObject("chat_template_kwargs").put("enable_thinking", random.nextBoolean());
    }
  }

  private void addTools(Random kind) {
    ArrayNode list = body.putArray("tools");
    for (int i = 1 + kind.nextInt(4); i > 0; i--) {
      String name = "tool_" + i + "_" + kind.nextInt(100);
      tools.add(name);
      ObjectNode function = JSON.createObjectNode();
      List<String> fields = new ArrayList<>(List.of("name", "description", "parameters"));
      if (kind.nextInt(3) == 0) {
        Collections.shuffle(fields, kind);
      }
      for (String field : fields) {
        switch (field) {
          case "name" -> function.put(field, name);
          case "description" -> {
            if (kind.nextInt(5) > 0) {
              function.put(field, text(kind, 5 + kind.nextInt(20)));
            }
          }
          default -> function.set(field, parameters(kind));
        }
      }
      if (kind.nextInt(4) == 0) {
        function.put("strict", kind.nextBoolean());
      }
      ObjectNode tool = list.addObject();
      if (kind.nextBoolean()) {
        tool.put("type", "function").set("function", function);
      } else {
        tool.set("function", function);
        tool.put("type", "function");
      }
    }
  }

  private static ObjectNode parameters(Random kind) {
    ObjectNode parameters = JSON.createObjectNode().put("type", "object");
    ObjectNode properties = parameters.putObject("properties");
    ArrayNode required = JSON.createArrayNode();
    for (int i = kind.nextInt(4); i > 0; i--) {
      ObjectNode property = properties.putObject("p" + i);
      switch (kind.nextInt(3)) {
        case 0 -> property.put("type", "string").put("description", text(kind, 4));
        case 1 -> property.put("type", "number").put("minimum", 0.5).put("maximum", 1e5);
        default -> {
          property.put("type", "string");
          property.putArray("enum").add("ä").add("b").addNull();
        }
      }
      required.add("p" + i);
    }
    parameters.set("required", required);
    return parameters.put("additionalProperties", false);
  }

  /** Words and what stands between them. */
  private static String text(Random random, int words) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < words; i++) {
      text.append(i == 0 ? "" : SEPARATORS[random.nextInt(SEPARATORS.length)]);
      text.append(WORDS[random.nextInt(WORDS.length)]);
    }
    return text.toString();
  }

  private ObjectNode message(String role) {
    return messages.addObject().put("role", role);
  }

  /** Whether there is a turn to come. */
  boolean goesOn() {
    return turnsLeft > 0;
  }

  /** The body of the next turn. */
  String nextTurn() {
    turnsLeft--;
    if (resultsDue > 0) {
      for (; resultsDue > 0; resultsDue--) {
        message("tool")
            .put("tool_call_id", "call_" + (calls - resultsDue))
            .put("content", text(random, 1 + random.nextInt(60)));
      }
    } else {
      say(message("user"));
    }
    body.put("max_tokens", 1 + random.nextInt(64));
    body.set("messages", messages);
    return body.toString();
  }

  private void say(ObjectNode message) {
    String text = text(random, 1 + random.nextInt(120));
    if (random.nextInt(4) > 0) {
      message.put("content", text);
      return;
    }
    ArrayNode parts = message.putArray("content");
    for (int i = random.nextInt(3); i >= 0; i--) {
      parts.addObject().put("type", "text").put("text", i == 0 ? text : text(random, 5));
    }
  }

  /** Takes the answer to the turn into the chat, as its words or as calls of tools besides. */
  void answered(String text) {
    ObjectNode message = message("assistant");
    if (tools.isEmpty() || random.nextInt(5) < 2) {
      message.put("content", text);
      return;
    }
    if (random.nextInt(3) == 0) {
      message.putNull("content");
    } else {
      message.put("content", text);
    }
    ArrayNode list = message.putArray("tool_calls");
    for (int i = random.nextInt(3); i >= 0; i--) {
      ObjectNode call = list.addObject().put("id", "call_" + calls++).put("type", "function");
      call.putObject("function")
          .put("name", tools.get(random.nextInt(tools.size())))
          .put("arguments", arguments());
      resultsDue++;
    }
  }

  /** JSON text, with white space, numbers and escapes that a model might write. */
  private String arguments() {
    return switch (random.nextInt(5)) {
      case 0 -> "{}";
      case 1 -> "{\"p1\": 1.0, \"p2\":1e3,  \"p3\": -0.5, \"n\": 9007199254740993}";
      case 2 -> "{\"p1\": \"\\u00e4\\n\\\"\", \"p2\": null, \"p3\": [true, {\"x\": []}]}";
      case 3 -> "{\"q\": " + JSON.getNodeFactory().textNode(text(random, 6)) + "}";
      default -> " {\"p2\" : \"b\", \"p1\" : \"" + random.nextInt(1000) + "\" } ";
    };
  }
}
