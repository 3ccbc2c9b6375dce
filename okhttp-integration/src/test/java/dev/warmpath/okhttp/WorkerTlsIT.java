package dev.warmpath.okhttp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.transport.TransportException;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.TlsFiles;
import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerRegistry;
import dev.warmpath.worker.WorkerSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.List;
import mockwebserver3.Dispatcher;
import mockwebserver3.MockResponse;
import mockwebserver3.MockWebServer;
import mockwebserver3.RecordedRequest;
import okhttp3.tls.HandshakeCertificates;
import okhttp3.tls.HeldCertificate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Workers that each want another certificate of the client. */
class WorkerTlsIT {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  private static HeldCertificate authority(String name) {
    return new HeldCertificate.Builder().certificateAuthority(0).commonName(name).build();
  }

  private static HeldCertificate signed(HeldCertificate by) {
    return new HeldCertificate.Builder()
        .signedBy(by)
        .commonName("localhost")
        .addSubjectAlternativeName("localhost")
        .addSubjectAlternativeName("127.0.0.1")
        .build();
  }

  private static MockWebServer server(HeldCertificate authority) throws IOException {
    MockWebServer server = new MockWebServer();
    server.useHttps(
        new HandshakeCertificates.Builder()
            .heldCertificate(signed(authority))
            .addTrustedCertificate(authority.certificate())
            .build()
            .sslSocketFactory());
    server.requireClientAuth();
    server.setDispatcher(
        new Dispatcher() {
          @Override
          public MockResponse dispatch(RecordedRequest request) {
            return new MockResponse.Builder().code(200).build();
          }
        });
    server.start();
    return server;
  }

  private static TlsFiles files(Path dir, String name, HeldCertificate trust, HeldCertificate own)
      throws IOException {
    Path ca = Files.writeString(dir.resolve(name + "-ca.pem"), trust.certificatePem());
    Path certificate = Files.writeString(dir.resolve(name + ".pem"), own.certificatePem());
    Path key = Files.writeString(dir.resolve(name + "-key.pem"), own.privateKeyPkcs8Pem());
    return new TlsFiles(ca, certificate, key);
  }

  private static Worker worker(MockWebServer server, TlsFiles files) {
    WorkerRegistry registry = new WorkerRegistry();
    registry.add(
        WorkerSpec.builder("https://127.0.0.1:" + server.getPort())
            .engine(EngineKind.VLLM)
            .tls(files)
            .build());
    return registry.current().workers().get(0);
  }

  @Test
  void eachWorkerSeesItsOwnCertificate(@TempDir Path dir) throws Exception {
    HeldCertificate one = authority("one");
    HeldCertificate two = authority("two");
    try (MockWebServer first = server(one);
        MockWebServer second = server(two);
        OkHttpTransport transport = OkHttpTransport.create()) {
      TlsFiles ofFirst = files(dir, "first", one, signed(one));
      TlsFiles ofSecond = files(dir, "second", two, signed(two));
      for (int i = 0; i < 2; i++) {
        assertThat(transport.health(worker(first, ofFirst), TIMEOUT).healthy()).isTrue();
        assertThat(transport.health(worker(second, ofSecond), TIMEOUT).healthy()).isTrue();
      }
    }
  }

  @Test
  void aCertificateOfAnotherAuthorityIsRefusedUntilTheFilesAreReplaced(@TempDir Path dir)
      throws Exception {
    HeldCertificate right = authority("right");
    HeldCertificate wrong = authority("wrong");
    try (MockWebServer server = server(right);
        OkHttpTransport transport = OkHttpTransport.create()) {
      TlsFiles files = files(dir, "client", right, signed(wrong));
      Worker worker = worker(server, files);
      assertThatThrownBy(() -> transport.health(worker, TIMEOUT))
          .isInstanceOf(TransportException.class);
      TlsFiles replaced = files(dir, "client", right, signed(right));
      assertThat(replaced).isEqualTo(files);
      for (Path file : List.of(replaced.certificate(), replaced.key())) {
        FileTime before = Files.getLastModifiedTime(file);
        Files.setLastModifiedTime(file, FileTime.from(before.toInstant().plusSeconds(2)));
      }
      assertThat(transport.health(worker, TIMEOUT).healthy()).isTrue();
    }
  }

  @Test
  void filesThatCanNotBeUsedAreAFailureToConnect(@TempDir Path dir) throws Exception {
    HeldCertificate authority = authority("one");
    try (MockWebServer server = server(authority);
        OkHttpTransport transport = OkHttpTransport.create()) {
      TlsFiles files = files(dir, "client", authority, signed(authority));
      Files.writeString(files.key(), "no key");
      Worker worker = worker(server, files);
      assertThatThrownBy(() -> transport.health(worker, TIMEOUT))
          .isInstanceOf(TransportException.class)
          .hasMessageNotContaining("no key");
    }
  }
}
