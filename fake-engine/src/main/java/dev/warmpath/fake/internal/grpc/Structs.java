package dev.warmpath.fake.internal.grpc;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.ListValue;
import com.google.protobuf.NullValue;
import com.google.protobuf.Struct;
import com.google.protobuf.Value;

/** JSON to protobuf's Struct and back; in a Struct every number is a double. */
final class Structs {
  private Structs() {}

  static Struct of(ObjectNode object) {
    Struct.Builder struct = Struct.newBuilder();
    object.properties().forEach(field -> struct.putFields(field.getKey(), of(field.getValue())));
    return struct.build();
  }

  private static Value of(JsonNode node) {
    Value.Builder value = Value.newBuilder();
    switch (node.getNodeType()) {
      case OBJECT -> value.setStructValue(of((ObjectNode) node));
      case ARRAY -> {
        ListValue.Builder list = ListValue.newBuilder();
        node.forEach(each -> list.addValues(of(each)));
        value.setListValue(list);
      }
      case BOOLEAN -> value.setBoolValue(node.booleanValue());
      case NUMBER -> value.setNumberValue(node.doubleValue());
      case NULL, MISSING -> value.setNullValue(NullValue.NULL_VALUE);
      default -> value.setStringValue(node.asText());
    }
    return value.build();
  }

  /** The JSON of a struct, in which whole numbers are integers again. */
  static ObjectNode json(Struct struct) {
    ObjectNode object = JsonNodeFactory.instance.objectNode();
    struct.getFieldsMap().forEach((name, value) -> object.set(name, json(value)));
    return object;
  }

  private static JsonNode json(Value value) {
    JsonNodeFactory nodes = JsonNodeFactory.instance;
    return switch (value.getKindCase()) {
      case STRUCT_VALUE -> json(value.getStructValue());
      case LIST_VALUE -> {
        ArrayNode array = nodes.arrayNode();
        value.getListValue().getValuesList().forEach(each -> array.add(json(each)));
        yield array;
      }
      case BOOL_VALUE -> nodes.booleanNode(value.getBoolValue());
      case NUMBER_VALUE -> {
        double number = value.getNumberValue();
        yield number == (long) number ? nodes.numberNode((long) number) : nodes.numberNode(number);
      }
      case STRING_VALUE -> nodes.textNode(value.getStringValue());
      case NULL_VALUE, KIND_NOT_SET -> nodes.nullNode();
    };
  }
}
