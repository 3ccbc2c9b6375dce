package dev.warmpath.grpc;

import com.google.protobuf.ByteString;
import dev.warmpath.proto.sglang.scheduler.SglangSchedulerGrpc;
import dev.warmpath.proto.smg.GetTokenizerChunk;
import dev.warmpath.proto.smg.GetTokenizerRequest;
import dev.warmpath.proto.vllm.engine.VllmEngineGrpc;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

/**
 * The tokenizer files of a model as a worker has them, for clients without the model's directory.
 * Both of smg's services send them: a zip archive in pieces, with its SHA-256 (smg-grpc-servicer
 * 0.8.0). What comes from the network is not trusted: the hash must fit, and an archive that is too
 * large, holds too much or reaches beyond its folder is refused.
 */
public final class TokenizerBundle {
  private static final int MAX_ARCHIVE_BYTES = 200 << 20;
  private static final long MAX_UNPACKED_BYTES = 1L << 30;
  private static final int MAX_ENTRIES = 50;

  /** The services that have the call, in the order in which they are asked. */
  private static final List<MethodDescriptor<GetTokenizerRequest, GetTokenizerChunk>> METHODS =
      List.of(SglangSchedulerGrpc.getGetTokenizerMethod(), VllmEngineGrpc.getGetTokenizerMethod());

  private TokenizerBundle() {}

  /**
   * Fetches a worker's bundle and unpacks it.
   *
   * @param worker its address, {@code grpc://host:port}
   * @param folder where a folder of its own is made for the bundle, named by its hash; one that is
   *     there already is taken as it is
   * @return that folder, for {@link dev.warmpath.prompt.ModelFiles#of(Path)}
   * @throws IOException when the worker can't be reached or has no such call, or when the bundle is
   *     not what it should be
   */
  public static Path fetch(String worker, Path folder, Duration timeout) throws IOException {
    ManagedChannel channel = ChannelSettings.ENGINE.open(URI.create(worker));
    try {
      return fetch(channel, folder, timeout);
    } finally {
      channel.shutdownNow();
    }
  }

  static Path fetch(Channel channel, Path folder, Duration timeout) throws IOException {
    CallOptions options =
        CallOptions.DEFAULT.withDeadlineAfter(timeout.toNanos(), TimeUnit.NANOSECONDS);
    for (MethodDescriptor<GetTokenizerRequest, GetTokenizerChunk> method : METHODS) {
      try {
        return unpack(
            ClientCalls.blockingServerStreamingCall(
                channel, method, options, GetTokenizerRequest.getDefaultInstance()),
            folder);
      } catch (StatusRuntimeException e) {
        if (e.getStatus().getCode() != Status.Code.UNIMPLEMENTED) {
          throw new IOException("the tokenizer can't be fetched: " + e.getStatus().getCode(), e);
        }
      }
    }
    throw new IOException("the worker offers no tokenizer: give the client the model's files");
  }

  private static Path unpack(Iterator<GetTokenizerChunk> chunks, Path folder) throws IOException {
    ByteArrayOutputStream archive = new ByteArrayOutputStream();
    String hash = "";
    while (chunks.hasNext()) {
      GetTokenizerChunk chunk = chunks.next();
      ByteString data = chunk.getData();
      if (archive.size() + data.size() > MAX_ARCHIVE_BYTES) {
        throw new IOException("the bundle is larger than " + MAX_ARCHIVE_BYTES + " bytes");
      }
      data.writeTo(archive);
      hash = chunk.getSha256().isEmpty() ? hash : chunk.getSha256();
    }
    byte[] zip = archive.toByteArray();
    String own = sha256(zip);
    if (!own.equals(hash.toLowerCase(Locale.ROOT))) {
      throw new IOException(
          hash.isEmpty() ? "the bundle came without its hash" : "the bundle's hash does not fit");
    }
    Path target = folder.resolve(own);
    if (Files.isDirectory(target)) {
      return target;
    }
    Files.createDirectories(folder);
    Path draft = Files.createTempDirectory(folder, "bundle");
    try {
      unzip(zip, draft);
      // Whoever looks finds all of it or nothing.
      return Files.move(draft, target);
    } catch (IOException | RuntimeException e) {
      delete(draft);
      throw e;
    }
  }

  private static void unzip(byte[] zip, Path into) throws IOException {
    long left = MAX_UNPACKED_BYTES;
    int entries = 0;
    try (ZipInputStream in = new ZipInputStream(new ByteArrayInputStream(zip))) {
      for (ZipEntry entry = in.getNextEntry(); entry != null; entry = in.getNextEntry()) {
        if (++entries > MAX_ENTRIES) {
          throw new IOException("the bundle holds more than " + MAX_ENTRIES + " files");
        }
        Path file = into.resolve(entry.getName()).normalize();
        if (!file.startsWith(into) || file.equals(into)) {
          throw new IOException("the bundle reaches beyond its folder");
        }
        if (entry.isDirectory()) {
          Files.createDirectories(file);
        } else {
          Files.createDirectories(file.getParent());
          left -= copy(in, file, left);
        }
      }
    }
    if (entries == 0) {
      throw new IOException("the bundle is no zip archive, or holds nothing");
    }
  }

  /** Copies an entry of at most {@code left} bytes; its header's size says nothing. */
  private static long copy(InputStream in, Path file, long left) throws IOException {
    byte[] buffer = new byte[64 << 10];
    long copied = 0;
    try (OutputStream out = Files.newOutputStream(file)) {
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        copied += n;
        if (copied > left) {
          throw new IOException("the bundle unpacks to more than " + MAX_UNPACKED_BYTES + " bytes");
        }
        out.write(buffer, 0, n);
      }
    }
    return copied;
  }

  private static void delete(Path folder) throws IOException {
    try (var files = Files.walk(folder)) {
      for (Path file : files.sorted(java.util.Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
  }

  private static String sha256(byte[] bytes) {
    try {
      StringBuilder hex = new StringBuilder(64);
      for (byte each : MessageDigest.getInstance("SHA-256").digest(bytes)) {
        hex.append(Character.forDigit(each >> 4 & 0xf, 16))
            .append(Character.forDigit(each & 0xf, 16));
      }
      return hex.toString();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e); // every JDK has it
    }
  }
}
