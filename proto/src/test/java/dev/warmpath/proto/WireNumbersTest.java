package dev.warmpath.proto;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.Descriptors.MethodDescriptor;
import com.google.protobuf.Descriptors.ServiceDescriptor;
import dev.warmpath.proto.health.HealthProto;
import dev.warmpath.proto.sglang.runtime.SglangRuntimeProto;
import dev.warmpath.proto.sglang.scheduler.SglangSchedulerProto;
import dev.warmpath.proto.smg.SmgCommonProto;
import dev.warmpath.proto.umbp.UmbpProto;
import dev.warmpath.proto.vllm.control.VllmControlProto;
import dev.warmpath.proto.vllm.engine.VllmEngineProto;
import dev.warmpath.proto.vllm.inference.FinishInfo;
import dev.warmpath.proto.vllm.inference.VllmInferenceProto;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The schemas against a table of the wire's names, numbers and types that was typed on its own. */
class WireNumbersTest {
  private static final List<FileDescriptor> FILES =
      List.of(
          SmgCommonProto.getDescriptor(),
          SglangSchedulerProto.getDescriptor(),
          SglangRuntimeProto.getDescriptor(),
          VllmEngineProto.getDescriptor(),
          VllmInferenceProto.getDescriptor(),
          VllmControlProto.getDescriptor(),
          UmbpProto.getDescriptor(),
          HealthProto.getDescriptor());

  static Stream<String> messages() throws IOException {
    return lines("msg ");
  }

  static Stream<String> methods() throws IOException {
    return lines("rpc ");
  }

  @ParameterizedTest
  @MethodSource("messages")
  void messageHasTheFieldsOfTheWire(String line) {
    String[] words = line.split(" ");
    Descriptor message = message(words[0]);
    assertThat(message.getFields().stream().map(WireNumbersTest::text))
        .containsExactlyInAnyOrder(List.of(words).subList(1, words.length).toArray(String[]::new));
  }

  @ParameterizedTest
  @MethodSource("methods")
  void methodIsThatOfTheWire(String line) {
    String[] words = line.split(" ");
    boolean streaming = words[3].equals("stream");
    MethodDescriptor method =
        FILES.stream()
            .flatMap(file -> file.getServices().stream())
            .filter(service -> service.getFullName().equals(words[0]))
            .findFirst()
            .orElseThrow()
            .findMethodByName(words[1]);
    assertThat(method.getInputType().getFullName()).isEqualTo(words[2]);
    assertThat(method.getOutputType().getFullName()).isEqualTo(words[streaming ? 4 : 3]);
    assertThat(method.isServerStreaming()).isEqualTo(streaming);
    assertThat(method.isClientStreaming()).isFalse();
  }

  @Test
  void everyServiceStandsInTheTable() throws IOException {
    Set<String> services = methods().map(line -> line.split(" ")[0]).collect(Collectors.toSet());
    assertThat(FILES.stream().flatMap(file -> file.getServices().stream()))
        .extracting(ServiceDescriptor::getFullName)
        .containsExactlyInAnyOrderElementsOf(services);
  }

  @Test
  void enumsHaveTheNumbersOfTheWire() {
    assertThat(FinishInfo.FinishReason.LENGTH_VALUE).isEqualTo(1);
    assertThat(FinishInfo.FinishReason.STOP_VALUE).isEqualTo(2);
    assertThat(FinishInfo.FinishReason.ABORTED_VALUE).isEqualTo(3);
    assertThat(UmbpProto.getDescriptor().findEnumTypeByName("TierType").getValues())
        .extracting(tier -> tier.getNumber() + tier.getName())
        .containsExactly("0TIER_UNKNOWN", "1TIER_HBM", "2TIER_DRAM", "3TIER_SSD");
    assertThat(UmbpProto.getDescriptor().findEnumTypeByName("ClientStatus").getValues())
        .extracting(status -> status.getNumber() + status.getName())
        .containsExactly(
            "0CLIENT_STATUS_UNKNOWN", "1CLIENT_STATUS_ALIVE", "2CLIENT_STATUS_EXPIRED");
  }

  @Test
  void everyServiceHasAJavaPackageOfItsOwn() {
    Set<String> packages = new HashSet<>();
    assertThat(FILES)
        .allSatisfy(file -> assertThat(packages.add(file.getOptions().getJavaPackage())).isTrue());
  }

  private static Stream<String> lines(String kind) throws IOException {
    try (InputStream table = WireNumbersTest.class.getResourceAsStream("wire-numbers.txt")) {
      return new String(table.readAllBytes(), StandardCharsets.UTF_8)
              .lines()
              .filter(line -> line.startsWith(kind))
              .map(line -> line.substring(kind.length()))
              .toList()
              .stream();
    }
  }

  private static Descriptor message(String name) {
    return FILES.stream()
        .flatMap(file -> file.getMessageTypes().stream())
        .filter(message -> message.getFullName().equals(name))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no message " + name));
  }

  private static String text(FieldDescriptor field) {
    String presence = field.toProto().getProto3Optional() ? "?" : field.isRepeated() ? "*" : "";
    String type = field.getType().name().toLowerCase(Locale.ROOT);
    return field.getName() + ":" + field.getNumber() + ":" + type + presence;
  }
}
