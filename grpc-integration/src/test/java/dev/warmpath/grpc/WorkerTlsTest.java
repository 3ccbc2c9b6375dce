package dev.warmpath.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.proto.health.HealthCheckRequest;
import dev.warmpath.proto.health.HealthGrpc;
import dev.warmpath.worker.TlsFiles;
import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerRegistry;
import dev.warmpath.worker.WorkerSpec;
import io.grpc.CallOptions;
import io.grpc.Grpc;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.TlsServerCredentials;
import io.grpc.stub.ClientCalls;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Base64;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A worker that wants a certificate of the client. */
@Tag("long")
class WorkerTlsTest {
  private static final char[] PASSWORD = "changeit".toCharArray();

  @TempDir private Path dir;

  /** A key and its self-signed certificate as PEM, by the JDK's own tool. */
  private TlsFiles pair(String name) throws Exception {
    Path store = dir.resolve(name + ".p12");
    Process keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                "k",
                "-keyalg",
                "EC",
                "-dname",
                "CN=" + name,
                "-ext",
                "san=ip:127.0.0.1",
                "-ext",
                "bc:c",
                "-storetype",
                "PKCS12",
                "-storepass",
                new String(PASSWORD),
                "-keystore",
                store.toString())
            .redirectErrorStream(true)
            .redirectOutput(dir.resolve(name + ".log").toFile())
            .start();
    assertThat(keytool.waitFor()).isZero();
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(store)) {
      keys.load(in, PASSWORD);
    }
    Path certificate = pem(name + ".pem", "CERTIFICATE", keys.getCertificate("k").getEncoded());
    Path key = pem(name + "-key.pem", "PRIVATE KEY", keys.getKey("k", PASSWORD).getEncoded());
    return new TlsFiles(null, certificate, key);
  }

  private Path pem(String file, String what, byte[] content) throws Exception {
    return Files.writeString(
        dir.resolve(file),
        "-----BEGIN "
            + what
            + "-----\n"
            + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content)
            + "\n-----END "
            + what
            + "-----\n");
  }

  private static Worker worker(int port, TlsFiles files) {
    WorkerRegistry registry = new WorkerRegistry();
    registry.add(WorkerSpec.builder("grpcs://127.0.0.1:" + port).tls(files).build());
    return registry.current().workers().get(0);
  }

  private static Status.Code call(Worker worker) {
    ManagedChannel channel = ChannelSettings.ENGINE.forWorker(worker).open(worker.id().uri());
    try {
      ClientCalls.blockingUnaryCall(
          channel,
          HealthGrpc.getCheckMethod(),
          CallOptions.DEFAULT.withDeadlineAfter(60, TimeUnit.SECONDS),
          HealthCheckRequest.getDefaultInstance());
      return Status.Code.OK;
    } catch (StatusRuntimeException e) {
      return e.getStatus().getCode();
    } finally {
      channel.shutdownNow();
    }
  }

  @Test
  void theWorkersOwnFilesAreUsed() throws Exception {
    TlsFiles server = pair("server");
    TlsFiles client = pair("client");
    Server running =
        Grpc.newServerBuilderForPort(
                0,
                TlsServerCredentials.newBuilder()
                    .keyManager(server.certificate().toFile(), server.key().toFile())
                    .trustManager(client.certificate().toFile())
                    .clientAuth(TlsServerCredentials.ClientAuth.REQUIRE)
                    .build())
            .build()
            .start();
    try {
      int port = running.getPort();
      // The server has no services: whoever gets so far was let in.
      assertThat(
              call(
                  worker(
                      port,
                      new TlsFiles(server.certificate(), client.certificate(), client.key()))))
          .isEqualTo(Status.Code.UNIMPLEMENTED);
      assertThat(
              call(
                  worker(
                      port,
                      new TlsFiles(server.certificate(), server.certificate(), server.key()))))
          .isEqualTo(Status.Code.UNAVAILABLE);
      assertThat(call(worker(port, new TlsFiles(server.certificate(), null, null))))
          .isEqualTo(Status.Code.UNAVAILABLE);
    } finally {
      running.shutdownNow().awaitTermination();
    }
  }

  @Test
  void filesThatAreNotThereAreNamedByTheirWorker() {
    Worker worker = worker(1, new TlsFiles(dir.resolve("none.pem"), null, null));
    assertThatThrownBy(() -> ChannelSettings.ENGINE.forWorker(worker))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("grpcs://127.0.0.1:1");
  }
}
