package dev.warmpath.okhttp.internal;

import dev.warmpath.worker.TlsFiles;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/** Makes sockets of PEM files: X.509 certificates, and a PKCS #8 key without a password. */
final class PemFiles {
  private static final Pattern KEY =
      Pattern.compile("-----BEGIN PRIVATE KEY-----(.*?)-----END PRIVATE KEY-----", Pattern.DOTALL);
  private static final char[] NO_PASSWORD = new char[0];

  private PemFiles() {}

  /**
   * Reads the files.
   *
   * @param trusted what is trusted where the files don't say
   */
  static SSLSocketFactory sockets(TlsFiles files, TrustManager trusted)
      throws IOException, GeneralSecurityException {
    SSLContext context = SSLContext.getInstance("TLS");
    Path trust = files.trust();
    context.init(
        keys(files.certificate(), files.key()),
        trust == null ? new TrustManager[] {trusted} : trust(trust),
        null);
    return context.getSocketFactory();
  }

  private static KeyManager @Nullable [] keys(@Nullable Path certificate, @Nullable Path key)
      throws IOException, GeneralSecurityException {
    if (certificate == null || key == null) {
      return null;
    }
    KeyStore store = empty();
    store.setKeyEntry(
        "client", key(key), NO_PASSWORD, certificates(certificate).toArray(new Certificate[0]));
    KeyManagerFactory factory =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    factory.init(store, NO_PASSWORD);
    return factory.getKeyManagers();
  }

  private static TrustManager[] trust(Path file) throws IOException, GeneralSecurityException {
    KeyStore store = empty();
    int number = 0;
    for (Certificate certificate : certificates(file)) {
      store.setCertificateEntry("trusted-" + number++, certificate);
    }
    TrustManagerFactory factory =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    factory.init(store);
    return factory.getTrustManagers();
  }

  private static KeyStore empty() throws IOException, GeneralSecurityException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, NO_PASSWORD);
    return store;
  }

  private static Collection<? extends Certificate> certificates(Path file)
      throws IOException, GeneralSecurityException {
    Collection<? extends Certificate> found =
        CertificateFactory.getInstance("X.509")
            .generateCertificates(new ByteArrayInputStream(Files.readAllBytes(file)));
    if (found.isEmpty()) {
      throw new IOException(file + " holds no certificate");
    }
    return found;
  }

  private static PrivateKey key(Path file) throws IOException, GeneralSecurityException {
    Matcher pem = KEY.matcher(Files.readString(file, StandardCharsets.US_ASCII));
    if (!pem.find()) {
      throw new IOException(
          file + " holds no PKCS #8 key: convert it with openssl pkcs8 -topk8 -nocrypt");
    }
    PKCS8EncodedKeySpec spec =
        new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(pem.group(1)));
    for (String algorithm : List.of("RSA", "EC", "Ed25519")) {
      try {
        return KeyFactory.getInstance(algorithm).generatePrivate(spec);
      } catch (InvalidKeySpecException e) {
        // another algorithm's
      }
    }
    throw new IOException(file + " holds a key that is neither RSA, EC nor Ed25519");
  }
}
