package dev.warmpath.worker;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The PEM files by which a worker is spoken to over TLS. Connections that are made after a file was
 * replaced go by the new one over HTTP; over gRPC the files are read when a worker's channel is
 * made.
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
}
