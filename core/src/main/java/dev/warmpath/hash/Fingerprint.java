package dev.warmpath.hash;

import java.security.MessageDigest;
import org.jspecify.annotations.Nullable;

/** Condenses an ordered list of optional texts into 64 bits that nobody can aim at. */
final class Fingerprint {

  private Fingerprint() {}

  /** Fingerprint of the texts; 0 exactly when all are absent. */
  static long of(@Nullable String... texts) {
    MessageDigest digest = Sha256.newDigest();
    byte[] length = new byte[Integer.BYTES];
    boolean any = false;
    for (String text : texts) {
      if (text == null) {
        digest.update((byte) 0);
        continue;
      }
      any = true;
      byte[] bytes = Bytes.utf8(text);
      Bytes.putIntLe(length, 0, bytes.length);
      digest.update((byte) 1);
      digest.update(length);
      digest.update(bytes);
    }
    if (!any) {
      return 0;
    }
    long fingerprint = Bytes.getLongBe(digest.digest(), 0);
    return fingerprint == 0 ? 1 : fingerprint;
  }
}
