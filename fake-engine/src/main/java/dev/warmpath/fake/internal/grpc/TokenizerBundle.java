package dev.warmpath.fake.internal.grpc;

import com.google.protobuf.ByteString;
import dev.warmpath.proto.smg.GetTokenizerChunk;
import io.grpc.Status;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.jspecify.annotations.Nullable;

/** smg's {@code GetTokenizer}: a model's files as one zip archive, in pieces of 64 KiB. */
final class TokenizerBundle {
  private static final int PIECE_BYTES = 64 << 10;

  private static final List<String> NAMES =
      List.of(
          "tokenizer.json",
          "tokenizer_config.json",
          "config.json",
          "generation_config.json",
          "special_tokens_map.json",
          "vocab.json",
          "merges.txt",
          "chat_template.json");

  private static final List<String> ENDINGS = List.of(".model", ".tiktoken", ".jinja");

  private TokenizerBundle() {}

  /** Sends the files of a directory; a model that is no local path has none to send. */
  static void serve(@Nullable Path directory, GrpcCall<GetTokenizerChunk> call) {
    if (directory == null) {
      call.fail(Status.UNIMPLEMENTED.withDescription("the tokenizer is no local path"));
      return;
    }
    byte[] archive;
    try {
      archive = archive(directory);
    } catch (IOException e) {
      call.fail(Status.INTERNAL.withDescription("the tokenizer can't be read"));
      return;
    }
    for (int from = 0; from < archive.length; from += PIECE_BYTES) {
      int length = Math.min(PIECE_BYTES, archive.length - from);
      GetTokenizerChunk.Builder piece =
          GetTokenizerChunk.newBuilder().setData(ByteString.copyFrom(archive, from, length));
      if (from + length == archive.length) {
        piece.setSha256(sha256(archive));
      }
      call.send(piece.build());
    }
    call.end();
  }

  private static byte[] archive(Path directory) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ZipOutputStream zip = new ZipOutputStream(bytes)) {
      for (Path file : files(directory)) {
        zip.putNextEntry(new ZipEntry(file.getFileName().toString()));
        Files.copy(file, zip);
        zip.closeEntry();
      }
    }
    return bytes.toByteArray();
  }

  private static List<Path> files(Path directory) throws IOException {
    List<Path> files = new ArrayList<>();
    try (Stream<Path> all = Files.list(directory)) {
      all.filter(Files::isRegularFile)
          .filter(TokenizerBundle::belongs)
          .sorted()
          .forEach(files::add);
    }
    return files;
  }

  private static boolean belongs(Path file) {
    String name = file.getFileName().toString();
    return NAMES.contains(name) || ENDINGS.stream().anyMatch(name::endsWith);
  }

  private static String sha256(byte[] bytes) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}
