package dev.warmpath.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import dev.warmpath.prompt.ModelFiles;
import dev.warmpath.proto.smg.GetTokenizerChunk;
import dev.warmpath.proto.smg.GetTokenizerRequest;
import dev.warmpath.proto.vllm.engine.VllmEngineGrpc;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TokenizerBundleTest {
  @TempDir private Path folder;
  private byte[] zip = {};
  private String hash = "";
  private Server server;
  private ManagedChannel channel;

  @BeforeEach
  void start() throws IOException {
    String name = InProcessServerBuilder.generateName();
    server =
        InProcessServerBuilder.forName(name)
            .directExecutor()
            .addService(
                new VllmEngineGrpc.VllmEngineImplBase() {
                  @Override
                  public void getTokenizer(
                      GetTokenizerRequest request, StreamObserver<GetTokenizerChunk> out) {
                    for (int from = 0; from < zip.length; from += 1_000) {
                      int to = Math.min(zip.length, from + 1_000);
                      GetTokenizerChunk.Builder chunk =
                          GetTokenizerChunk.newBuilder()
                              .setData(ByteString.copyFrom(zip, from, to - from));
                      out.onNext(to == zip.length ? chunk.setSha256(hash).build() : chunk.build());
                    }
                    out.onCompleted();
                  }
                })
            .build()
            .start();
    channel = InProcessChannelBuilder.forName(name).directExecutor().build();
  }

  @AfterEach
  void stop() {
    channel.shutdownNow();
    server.shutdownNow();
  }

  private void offer(Map<String, byte[]> files) throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ZipOutputStream out = new ZipOutputStream(bytes)) {
      for (Map.Entry<String, byte[]> file : files.entrySet()) {
        out.putNextEntry(new ZipEntry(file.getKey()));
        out.write(file.getValue());
      }
    }
    zip = bytes.toByteArray();
    hash = HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(zip));
  }

  private Path fetch() throws IOException {
    return TokenizerBundle.fetch(channel, folder.resolve("bundles"), Duration.ofSeconds(30));
  }

  @Test
  void aBundleIsAModelsFolder() throws Exception {
    Path tiny = TinyModel.writeTo(folder.resolve("tiny"));
    Map<String, byte[]> files = new LinkedHashMap<>();
    for (String name : new String[] {"tokenizer.json", "tokenizer_config.json"}) {
      files.put(name, Files.readAllBytes(tiny.resolve(name)));
    }
    offer(files);

    Path fetched = fetch();

    assertThat(fetched.getFileName()).hasToString(hash);
    assertThat(ModelFiles.of(fetched).tokenizer().encode("hi", false)).containsExactly('h', 'i');
    assertThat(fetch()).isEqualTo(fetched);
  }

  @Test
  void aHashThatDoesNotFitIsRefused() throws Exception {
    offer(Map.of("tokenizer.json", new byte[] {'{', '}'}));
    hash = "0".repeat(64);
    assertThatThrownBy(this::fetch).hasMessageContaining("hash does not fit");
    hash = "";
    assertThatThrownBy(this::fetch).hasMessageContaining("without its hash");
    assertThat(folder.resolve("bundles")).doesNotExist();
  }

  @Test
  void anArchiveThatReachesBeyondItsFolderIsRefused() throws Exception {
    offer(Map.of("../evil", new byte[] {1}));
    assertThatThrownBy(this::fetch).hasMessageContaining("beyond its folder");
    assertThat(folder.resolve("evil")).doesNotExist();
    assertNothingLeft();
  }

  @Test
  void anArchiveOfTooManyFilesIsRefused() throws Exception {
    Map<String, byte[]> files = new LinkedHashMap<>();
    for (int i = 0; i < 51; i++) {
      files.put("file" + i, new byte[] {1});
    }
    offer(files);
    assertThatThrownBy(this::fetch).hasMessageContaining("more than 50 files");
    assertNothingLeft();
  }

  @Test
  void whatIsNoArchiveIsRefused() throws Exception {
    zip = new byte[] {1, 2, 3};
    hash = HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(zip));
    assertThatThrownBy(this::fetch).hasMessageContaining("no zip archive");
    assertNothingLeft();
  }

  private void assertNothingLeft() throws IOException {
    try (Stream<Path> left = Files.list(folder.resolve("bundles"))) {
      assertThat(left).isEmpty();
    }
  }
}
