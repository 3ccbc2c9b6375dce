package dev.warmpath.config;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.worker.KvHashing;
import dev.warmpath.worker.WorkerSpec;
import java.util.function.Consumer;
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
    fill(own.role(), spec.role(), found::role);
    fill(own.engine(), spec.engine(), found::engine);
    fill(own.dpSize(), spec.dpSize(), found::dpSize);
    fill(own.blockSize(), spec.blockSize(), found::blockSize);
    fill(own.kvCapacityTokens(), spec.kvCapacityTokens(), found::kvCapacityTokens);
    fill(own.apiKey(), spec.apiKey(), found::apiKey);
    fill(own.adminKey(), spec.adminKey(), found::adminKey);
    fill(own.tls(), spec.tls(), found::tls);
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
    return found;
  }

  private static <T> void fill(@Nullable T own, @Nullable T common, Consumer<T> found) {
    if (own == null && common != null) {
      found.accept(common);
    }
  }

  /** All but its keys, of which only the presence is told. */
  @Override
  public String toString() {
    return WorkerKeys.COMMON.print(spec);
  }
}
