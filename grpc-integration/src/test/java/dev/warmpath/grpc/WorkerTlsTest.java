package dev.warmpath.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.proto.health.HealthCheckRequest;
import dev.warmpath.proto.health.HealthCheckResponse;
import dev.warmpath.proto.health.HealthGrpc;
import dev.warmpath.transport.TransportException;
import dev.warmpath.worker.TlsFiles;
import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerRegistry;
import dev.warmpath.worker.WorkerSpec;
import io.grpc.BindableService;
import io.grpc.CallOptions;
import io.grpc.Grpc;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.TlsServerCredentials;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.security.KeyStore;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Iterator;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A worker that wants a certificate of the client. */
@Tag("long")
class WorkerTlsTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final char[] PASSWORD = "changeit".toCharArray();

  @TempDir private static Path dir;

  private static TlsFiles server;
  private static TlsFiles client;
  private static TlsFiles renewed;

  private final BlockingQueue<String> callers = new LinkedBlockingQueue<>();

  @BeforeAll
  static void makePairs() throws Exception {
    server = pair("server");
    client = pair("client");
    renewed = pair("renewed");
  }

  /** A key and its self-signed certificate as PEM, by the JDK's own tool. */
  private static TlsFiles pair(String name) throws Exception {
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

  private static Path pem(String file, String what, byte[] content) throws Exception {
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

  /**
   * Lets in who shows one of the two clients' certificates, and notes whose it was at each call.
   */
  private Server serve(BindableService... services) throws Exception {
    Path trusted = dir.resolve("clients.pem");
    Files.writeString(
        trusted, Files.readString(client.certificate()) + Files.readString(renewed.certificate()));
    ServerBuilder<?> builder =
        Grpc.newServerBuilderForPort(
                0,
                TlsServerCredentials.newBuilder()
                    .keyManager(server.certificate().toFile(), server.key().toFile())
                    .trustManager(trusted.toFile())
                    .clientAuth(TlsServerCredentials.ClientAuth.REQUIRE)
                    .build())
            .intercept(
                new ServerInterceptor() {
                  @Override
                  public <Q, R> ServerCall.Listener<Q> interceptCall(
                      ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
                    callers.add(peer(call.getAttributes().get(Grpc.TRANSPORT_ATTR_SSL_SESSION)));
                    return next.startCall(call, headers);
                  }
                });
    for (BindableService service : services) {
      builder.addService(service);
    }
    return builder.build().start();
  }

  private static String peer(SSLSession session) {
    try {
      return session.getPeerPrincipal().getName();
    } catch (SSLPeerUnverifiedException e) {
      return "nobody";
    }
  }

  /** The certificate and key as they are at {@code at}, by times of modification that differ. */
  private static void install(TlsFiles from, TlsFiles at, int version) throws IOException {
    copy(from.certificate(), at.certificate(), version);
    copy(from.key(), at.key(), version);
  }

  private static void copy(Path from, Path to, int version) throws IOException {
    Files.copy(from, to, StandardCopyOption.REPLACE_EXISTING);
    Files.setLastModifiedTime(to, FileTime.from(Instant.ofEpochSecond(version)));
  }

  private static TlsFiles place(Path folder) {
    return new TlsFiles(
        folder.resolve("ca.pem"), folder.resolve("own.pem"), folder.resolve("own-key.pem"));
  }

  /** Whose certificate the worker saw at the last of a poll's calls. */
  private String caller(GrpcTransport transport, Worker worker) throws Exception {
    callers.clear();
    assertThat(transport.health(worker, TIMEOUT).healthy()).isTrue();
    String last = null;
    for (String next = callers.poll(); next != null; next = callers.poll()) {
      last = next;
    }
    return last;
  }

  @Test
  void callsGoByReplacedFilesAndRunningOnesEndOnTheOldConnection(@TempDir Path folder)
      throws Exception {
    TlsFiles files = place(folder);
    copy(server.certificate(), files.trust(), 1);
    install(client, files, 1);
    ScriptedEngines engines = new ScriptedEngines();
    HeldStream held = new HeldStream();
    Server running = serve(engines.sglangScheduler(), held);
    try (GrpcTransport transport = GrpcTransport.create()) {
      Worker worker = worker(running.getPort(), files);
      assertThat(caller(transport, worker)).isEqualTo("CN=client");
      ManagedChannel old = transport.channel(worker);
      Iterator<HealthCheckResponse> stream =
          ClientCalls.blockingServerStreamingCall(
              old,
              HeldStream.METHOD,
              CallOptions.DEFAULT.withDeadlineAfter(120, TimeUnit.SECONDS),
              HealthCheckRequest.getDefaultInstance());
      assertThat(stream.next()).isNotNull();

      copy(renewed.certificate(), files.certificate(), 2);
      assertThat(caller(transport, worker)).as("no key yet").isEqualTo("CN=client");
      copy(renewed.key(), files.key(), 3);
      assertThat(caller(transport, worker)).as("seen once").isEqualTo("CN=client");
      assertThat(transport.channel(worker)).isSameAs(old);
      assertThat(caller(transport, worker)).isEqualTo("CN=renewed");
      assertThat(transport.channel(worker)).isNotSameAs(old);
      assertThat(caller(transport, worker)).isEqualTo("CN=renewed");

      assertThat(old.isShutdown()).isTrue();
      assertThat(old.isTerminated()).isFalse();
      held.end();
      assertThat(stream.next()).isNotNull();
      assertThat(stream.hasNext()).isFalse();
      assertThat(old.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
    } finally {
      running.shutdownNow().awaitTermination();
    }
  }

  @Test
  void filesThatCanNotBeUsedLeaveTheChannelAsItIs(@TempDir Path folder) throws Exception {
    TlsFiles files = place(folder);
    copy(server.certificate(), files.trust(), 1);
    install(client, files, 1);
    Server running = serve(new ScriptedEngines().sglangScheduler());
    try (GrpcTransport transport = GrpcTransport.create()) {
      Worker worker = worker(running.getPort(), files);
      assertThat(caller(transport, worker)).isEqualTo("CN=client");
      ManagedChannel old = transport.channel(worker);
      install(renewed, files, 2);
      Files.writeString(files.key(), "no key");
      for (int i = 0; i < 3; i++) {
        assertThat(caller(transport, worker)).isEqualTo("CN=client");
      }
      Files.delete(files.key());
      assertThat(caller(transport, worker)).isEqualTo("CN=client");
      assertThat(transport.channel(worker)).isSameAs(old);
      install(renewed, files, 3);
      caller(transport, worker);
      assertThat(caller(transport, worker)).isEqualTo("CN=renewed");
    } finally {
      running.shutdownNow().awaitTermination();
    }
  }

  @Test
  void aWorkerIsReachedOnceItsAuthorityIsTrusted(@TempDir Path folder) throws Exception {
    TlsFiles files = place(folder);
    copy(renewed.certificate(), files.trust(), 1);
    install(client, files, 1);
    Server running = serve(new ScriptedEngines().sglangScheduler());
    try (GrpcTransport transport = GrpcTransport.create()) {
      Worker worker = worker(running.getPort(), files);
      assertThatThrownBy(() -> transport.health(worker, TIMEOUT))
          .isInstanceOf(TransportException.class);
      copy(server.certificate(), files.trust(), 2);
      assertThatThrownBy(() -> transport.health(worker, TIMEOUT))
          .isInstanceOf(TransportException.class);
      assertThat(caller(transport, worker)).isEqualTo("CN=client");
    } finally {
      running.shutdownNow().awaitTermination();
    }
  }

  @Test
  void theWorkersOwnFilesAreUsed() throws Exception {
    Server running = serve();
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

  /** Sends one message, and another when it is told to end. */
  private static final class HeldStream implements BindableService {
    static final MethodDescriptor<HealthCheckRequest, HealthCheckResponse> METHOD =
        HealthGrpc.getCheckMethod().toBuilder()
            .setType(MethodDescriptor.MethodType.SERVER_STREAMING)
            .setFullMethodName("held/Stream")
            .build();

    private final CompletableFuture<StreamObserver<HealthCheckResponse>> observer =
        new CompletableFuture<>();

    @Override
    public ServerServiceDefinition bindService() {
      return ServerServiceDefinition.builder("held")
          .addMethod(
              METHOD,
              ServerCalls.asyncServerStreamingCall(
                  (HealthCheckRequest request, StreamObserver<HealthCheckResponse> answers) -> {
                    answers.onNext(HealthCheckResponse.getDefaultInstance());
                    observer.complete(answers);
                  }))
          .build();
    }

    void end() throws Exception {
      StreamObserver<HealthCheckResponse> answers = observer.get(30, TimeUnit.SECONDS);
      answers.onNext(HealthCheckResponse.getDefaultInstance());
      answers.onCompleted();
    }
  }
}
