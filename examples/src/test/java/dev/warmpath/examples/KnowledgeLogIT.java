package dev.warmpath.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.RouterClient;
import dev.warmpath.api.KnowledgeInjection;
import dev.warmpath.api.KnowledgeNeeds;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.fake.FakeFleet;
import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.knowledge.KnowledgeRouting;
import dev.warmpath.okhttp.OkHttpTransport;
import dev.warmpath.worker.EngineKind;
import java.util.ArrayList;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The line of each decision, over the JDK's logging, where DEBUG is {@code FINE}. */
class KnowledgeLogIT {
  private static final String SECRET = "what nobody is to read in a log";

  private final Logger logger = Logger.getLogger(KnowledgeRouting.class.getName());
  private final List<LogRecord> records = new ArrayList<>();
  private final Handler handler =
      new Handler() {
        @Override
        public void publish(LogRecord record) {
          records.add(record);
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
      };

  @BeforeEach
  void listen() {
    handler.setLevel(Level.ALL);
    logger.setUseParentHandlers(false);
    logger.addHandler(handler);
  }

  @AfterEach
  void leave() {
    logger.removeHandler(handler);
    logger.setUseParentHandlers(true);
    logger.setLevel(null);
  }

  /** Sends one request; what was logged for it. */
  private List<LogRecord> send(boolean atInfo, Level level) {
    logger.setLevel(level);
    try (FakeFleet fleet =
            FakeFleet.start(
                "1", engine -> engine.kind(EngineKind.VLLM).timing(LatencyModel.instant()));
        RouterClient router =
            RouterClient.builder()
                .transport(OkHttpTransport.builder().build())
                .worker(fleet.urls().get(0))
                .knowledge(KnowledgeRouting.builder().decisionsAtInfo(atInfo).build())
                .build()) {
      RouterRequest request =
          RouterRequest.builder(RouterRequest.CHAT_COMPLETIONS)
              .body("{\"messages\":[{\"role\":\"user\",\"content\":\"why?\"}]}")
              .knowledge(KnowledgeNeeds.texts(SECRET).injectedAs(KnowledgeInjection.TEXT))
              .build();
      router.explain(request); // says nothing
      router.send(request);
      String line =
          "[CacheRoute] req=1 kdn=None proxy="
              + fleet.urls().get(0)
              + " kids=1 kdn_candidates=0 proxy_candidates=1";
      assertThat(records)
          .allSatisfy(record -> assertThat(said(record)).isEqualTo(line).doesNotContain(SECRET));
    }
    return List.copyOf(records);
  }

  private static String said(LogRecord record) {
    return new SimpleFormatter().formatMessage(record);
  }

  @Test
  void aDecisionIsALineAtDebug() {
    List<LogRecord> said = send(false, Level.ALL);

    assertThat(said).extracting(LogRecord::getLevel).containsExactly(Level.FINE);
  }

  @Test
  void atInfoNothingIsSaidOfIt() {
    assertThat(send(false, Level.INFO)).isEmpty();
  }

  @Test
  void itIsALineAtInfoWhereThatIsSet() {
    List<LogRecord> said = send(true, Level.INFO);

    assertThat(said).extracting(LogRecord::getLevel).containsExactly(Level.INFO);
  }
}
