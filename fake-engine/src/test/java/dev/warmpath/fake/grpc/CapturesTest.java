package dev.warmpath.fake.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.protobuf.ByteString;
import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.MapEntry;
import com.google.protobuf.Message;
import com.google.protobuf.Parser;
import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Messages that another implementation made, without our {@code .proto} files: the generated
 * classes read every field of them, and write the very bytes. {@code src/test/scripts/captures.py}
 * made them from tables of field numbers and types.
 */
class CapturesTest {
  private static final String PACKAGES = "dev.warmpath.proto.";

  record Capture(String service, String message, byte[] bytes, JsonNode fields) {
    @Override
    public String toString() {
      return service + "." + message + " (" + bytes.length + " bytes)";
    }
  }

  static List<Capture> captures() throws IOException {
    try (InputStream file = CapturesTest.class.getResourceAsStream("captures.json")) {
      List<Capture> captures = new ArrayList<>();
      for (JsonNode each : new ObjectMapper().readTree(file)) {
        captures.add(
            new Capture(
                each.path("service").asText(),
                each.path("message").asText(),
                HexFormat.of().parseHex(each.path("hex").asText()),
                each.path("fields")));
      }
      return captures;
    }
  }

  @ParameterizedTest
  @MethodSource("captures")
  void readsEveryFieldAndWritesTheSameBytes(Capture capture) throws Exception {
    Parser<?> parser =
        (Parser<?>)
            Class.forName(PACKAGES + capture.service() + "." + capture.message())
                .getMethod("parser")
                .invoke(null);
    Message message = (Message) parser.parseFrom(capture.bytes());
    assertFields(message, capture.fields());
    ByteArrayOutputStream written = new ByteArrayOutputStream();
    CodedOutputStream out = CodedOutputStream.newInstance(written);
    out.useDeterministicSerialization();
    message.writeTo(out);
    out.flush();
    assertThat(written.toByteArray()).isEqualTo(capture.bytes());
  }

  private static void assertFields(Message message, JsonNode expected) {
    String name = message.getDescriptorForType().getFullName();
    assertThat(message.getUnknownFields().asMap()).as(name).isEmpty();
    TreeSet<Integer> set = new TreeSet<>();
    message.getAllFields().keySet().forEach(field -> set.add(field.getNumber()));
    TreeSet<Integer> wanted = new TreeSet<>();
    expected.fieldNames().forEachRemaining(number -> wanted.add(Integer.valueOf(number)));
    assertThat(set).as(name).isEqualTo(wanted);
    for (Map.Entry<FieldDescriptor, Object> field : message.getAllFields().entrySet()) {
      JsonNode value = expected.path(Integer.toString(field.getKey().getNumber()));
      assertField(field.getKey(), field.getValue(), value);
    }
  }

  private static void assertField(FieldDescriptor field, Object actual, JsonNode expected) {
    if (field.isMapField()) {
      MapEntry<?, ?> entry = (MapEntry<?, ?>) ((List<?>) actual).get(0);
      JsonNode pair = expected.path("map").path(0);
      assertThat(entry.getKey().toString()).isEqualTo(pair.path(0).asText());
      assertThat(entry.getValue().toString()).isEqualTo(pair.path(1).asText());
    } else if (field.isRepeated()) {
      List<?> values = (List<?>) actual;
      assertThat(values).as(field.getFullName()).hasSize(expected.size());
      for (int i = 0; i < values.size(); i++) {
        assertValue(field, values.get(i), expected.path(i));
      }
    } else {
      assertValue(field, actual, expected);
    }
  }

  private static void assertValue(FieldDescriptor field, Object actual, JsonNode expected) {
    String name = field.getFullName();
    switch (field.getType()) {
      case MESSAGE -> {
        if (actual instanceof Struct struct) {
          assertStruct(struct, expected.path("struct"));
        } else {
          assertFields((Message) actual, expected);
        }
      }
      case UINT32 ->
          assertThat(Integer.toUnsignedLong((Integer) actual))
              .as(name)
              .isEqualTo(expected.asLong());
      case UINT64 ->
          assertThat(Long.toUnsignedString((Long) actual)).as(name).isEqualTo(expected.asText());
      case BYTES ->
          assertThat(HexFormat.of().formatHex(((ByteString) actual).toByteArray()))
              .as(name)
              .isEqualTo(expected.asText());
      case ENUM ->
          assertThat(((EnumValueDescriptor) actual).getNumber())
              .as(name)
              .isEqualTo(expected.asInt());
      case FLOAT -> assertThat((Float) actual).as(name).isEqualTo((float) expected.asDouble());
      case DOUBLE -> assertThat((Double) actual).as(name).isEqualTo(expected.asDouble());
      default -> assertThat(actual.toString()).as(name).isEqualTo(expected.asText());
    }
  }

  private static void assertStruct(Struct struct, JsonNode expected) {
    assertThat(struct.getFieldsCount()).isEqualTo(expected.size());
    expected
        .properties()
        .forEach(field -> assertJson(struct.getFieldsOrThrow(field.getKey()), field.getValue()));
  }

  private static void assertJson(Value value, JsonNode expected) {
    switch (value.getKindCase()) {
      case STRUCT_VALUE -> assertStruct(value.getStructValue(), expected);
      case LIST_VALUE -> {
        assertThat(value.getListValue().getValuesCount()).isEqualTo(expected.size());
        for (int i = 0; i < expected.size(); i++) {
          assertJson(value.getListValue().getValues(i), expected.path(i));
        }
      }
      case NUMBER_VALUE -> assertThat(value.getNumberValue()).isEqualTo(expected.asDouble());
      case BOOL_VALUE -> assertThat(value.getBoolValue()).isEqualTo(expected.asBoolean());
      case STRING_VALUE -> assertThat(value.getStringValue()).isEqualTo(expected.asText());
      case NULL_VALUE, KIND_NOT_SET -> assertThat(expected.isNull()).isTrue();
    }
  }
}
