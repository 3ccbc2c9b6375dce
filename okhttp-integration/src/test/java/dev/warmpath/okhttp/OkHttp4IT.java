package dev.warmpath.okhttp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** The application may bring OkHttp 4.12: the classes that were compiled against 5 run with it. */
class OkHttp4IT {
  /** Hides this build's OkHttp, and what was loaded against it. */
  private static final class WithoutOkHttp extends ClassLoader {
    WithoutOkHttp(ClassLoader parent) {
      super(parent);
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      for (String hidden : List.of("okhttp3.", "okio.", "kotlin.", "dev.warmpath.okhttp.")) {
        if (name.startsWith(hidden)) {
          throw new ClassNotFoundException(name);
        }
      }
      return super.loadClass(name, resolve);
    }
  }

  @Test
  @SuppressWarnings("unchecked")
  void interceptorAndTransportRunWithOkHttp4() throws Exception {
    String folder = System.getProperty("okhttp4.jars");
    Assumptions.assumeTrue(folder != null, "okhttp4.jars names no folder: run it through Maven");
    List<URL> path = new ArrayList<>();
    for (File jar : Objects.requireNonNull(new File(folder).listFiles(), folder)) {
      path.add(jar.toURI().toURL());
    }
    path.add(codeOf(RoutingInterceptor.class));
    path.add(codeOf(OkHttp4Scenario.class));
    try (MockWorker worker = MockWorker.started();
        URLClassLoader with4 =
            new URLClassLoader(
                path.toArray(URL[]::new), new WithoutOkHttp(getClass().getClassLoader()))) {
      worker.answers(
          request -> {
            if (request.getTarget().equals("/v1/completions")) {
              return MockWorker.wholeStream();
            }
            // The third connection use turns out to be stale once.
            return worker.requests().size() == 3
                ? MockWorker.closesAfterRequest()
                : MockWorker.ok();
          });
      Function<String, List<String>> scenario =
          (Function<String, List<String>>)
              with4
                  .loadClass(OkHttp4Scenario.class.getName())
                  .getDeclaredConstructor()
                  .newInstance();
      int stream =
          2 * ("data: " + MockWorker.CHUNK + "\n\n").length() + "data: [DONE]\n\n".length();
      assertThat(scenario.apply(worker.url()))
          .containsExactly(
              "OkHttp 4.12.0",
              "200 http://warmpath.invalid/v1/chat/completions 1 " + MockWorker.WHOLE.length(),
              "200 http://warmpath.invalid/v1/completions 1 " + stream,
              "200 http://warmpath.invalid/v1/chat/completions 2 " + MockWorker.WHOLE.length(),
              "sent 200",
              "in flight 0");
      assertThat(worker.requests())
          .hasSize(5)
          .allSatisfy(request -> assertThat(request.getHeaders().get("Authorization")).isNull());
    }
  }

  private static URL codeOf(Class<?> type) {
    return type.getProtectionDomain().getCodeSource().getLocation();
  }
}
