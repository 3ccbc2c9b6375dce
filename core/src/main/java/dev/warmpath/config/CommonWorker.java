package dev.warmpath.config;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.worker.KvHashing;
import dev.warmpath.worker.WorkerSpec;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * What workers have in common that are found rather than listed; compares by value.
 *
 * @param spec says it of an address that stands for all
 */
record CommonWorker(WorkerSpec spec) {
  static final ConfigType<CommonWorker> COMMON =
      new ConfigType<>() {
        @Override
        public String label() {
          return "worker without url";
        }

        @Override
        public CommonWorker read(JsonNode node, Place place) {
          return new CommonWorker(WorkerKeys.COMMON.read(node, place));
        }

        @Override
        public String print(CommonWorker value) {
          return value.toString();
        }
      };

  /** Says it of a worker that was found, where nothing else is told of it. */
  static UnaryOperator<WorkerSpec.Builder> filling(@Nullable CommonWorker common) {
    return common == null ? UnaryOperator.identity() : common::fill;
  }

  private WorkerSpec.Builder fill(WorkerSpec.Builder found) {
    WorkerSpec own = found.build();
    if (own.role() == null && spec.role() != null) {
      found.role(spec.role());
    }
    if (own.engine() == null && spec.engine() != null) {
      found.engine(spec.engine());
    }
    if (own.dpSize() == null && spec.dpSize() != null) {
      found.dpSize(spec.dpSize());
    }
    if (own.blockSize() == null && spec.blockSize() != null) {
      found.blockSize(spec.blockSize());
    }
    if (own.kvCapacityTokens() == null && spec.kvCapacityTokens() != null) {
      found.kvCapacityTokens(spec.kvCapacityTokens());
    }
    if (own.hashing().equals(KvHashing.UNKNOWN)) {
      found.hashing(spec.hashing());
    }
    if (own.models().isEmpty()) {
      found.models(spec.models());
    }
    spec.labels()
        .forEach(
            (name, value) -> {
              if (!own.labels().containsKey(name)) {
                found.label(name, value);
              }
            });
    return found
        .apiKey(own.apiKey() == null ? spec.apiKey() : own.apiKey())
        .adminKey(own.adminKey() == null ? spec.adminKey() : own.adminKey())
        .tls(own.tls() == null ? spec.tls() : own.tls());
  }

  /** All but its keys, of which only the presence is told. */
  @Override
  public String toString() {
    return WorkerKeys.COMMON.print(spec);
  }
}
