package dev.warmpath.hash;

import java.security.DigestException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** SHA-256 through the platform's provider, which uses the processor's instructions for it. */
final class Sha256 {

  static final int BYTES = 32;

  private Sha256() {}

  static MessageDigest newDigest() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  /** Finishes a digest into {@code target} and resets it for the next message. */
  static void finish(MessageDigest digest, byte[] target, int at) {
    try {
      digest.digest(target, at, BYTES);
    } catch (DigestException e) {
      throw new IllegalStateException(e);
    }
  }
}
