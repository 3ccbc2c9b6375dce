package dev.warmpath.worker;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The PEM files by which a worker is spoken to over TLS. Those that are replaced hold without a
 * restart: over HTTP from the next connection on; over gRPC, whose connections last, calls go over
 * a new connection once two of the worker's polls in a row found the same new files, and those that
 * run end on the old one.
 *
 * @param trust the certificates that may sign the worker's; null for those the transport trusts
 * @param certificate this client's certificate, with its chain; null to show none
 * @param key its private key, as PKCS #8 without a password; together with the certificate
 */
public record TlsFiles(@Nullable Path trust, @Nullable Path certificate, @Nullable Path key) {
  /** Refuses a certificate without its key, or the other way round, and none of either. */
  public TlsFiles {
    if ((certificate == null) != (key == null)) {
      throw new IllegalArgumentException("TLS needs certificate and key together: give both");
    }
    if (trust == null && certificate == null) {
      throw new IllegalArgumentException("TLS files are none: give trust, or certificate and key");
    }
  }

  /**
   * When each of the files was last modified: whoever made something of them makes it anew when
   * this changes.
   *
   * @throws IOException when one can't be found
   */
  public List<FileTime> modified() throws IOException {
    List<FileTime> times = new ArrayList<>();
    for (Path file : new Path[] {trust, certificate, key}) {
      if (file != null) {
        times.add(Files.getLastModifiedTime(file));
      }
    }
    return times;
  }
}
