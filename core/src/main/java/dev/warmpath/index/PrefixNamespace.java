package dev.warmpath.index;

import java.io.ByteArrayOutputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * What keeps two equal prompts apart: the model, the LoRA adapter, the cache salt and the tenant.
 *
 * <p>A prefix that is known in one namespace never matches in another. An absent part differs from
 * an empty one. Immutable; keep an instance rather than build one per request, since building it
 * encodes the four names.
 */
public final class PrefixNamespace {
  /** Longer names are represented by their digest, which bounds what one namespace can take up. */
  private static final int LONGEST_NAME = 256;

  private static final int ABSENT = 0;
  private static final int SPELLED = 1;
  private static final int DIGESTED = 2;

  private final String model;
  private final @Nullable String lora;
  private final @Nullable String salt;
  private final @Nullable String tenant;

  /** Injective and prefix-free, so that no namespace lies below another in a tree of bytes. */
  private final byte[] key;

  private PrefixNamespace(
      String model, @Nullable String lora, @Nullable String salt, @Nullable String tenant) {
    this.model = model;
    this.lora = lora;
    this.salt = salt;
    this.tenant = tenant;
    ByteArrayOutputStream out = new ByteArrayOutputStream(64);
    encode(model, out);
    encode(lora, out);
    encode(salt, out);
    encode(tenant, out);
    this.key = out.toByteArray();
  }

  /**
   * The namespace of a base model without adapter, salt or tenant.
   *
   * @param model the served model's name
   * @return the namespace
   */
  public static PrefixNamespace of(String model) {
    return new PrefixNamespace(model, null, null, null);
  }

  /**
   * The namespace of everything that can keep prompts apart.
   *
   * @param model the served model's name
   * @param lora the adapter's name, or null for the base model
   * @param salt the request's cache salt, or null
   * @param tenant the tenant whose prompts stay apart from all others', or null
   * @return the namespace
   */
  public static PrefixNamespace of(
      String model, @Nullable String lora, @Nullable String salt, @Nullable String tenant) {
    return new PrefixNamespace(model, lora, salt, tenant);
  }

  /**
   * Returns the served model's name.
   *
   * @return the model
   */
  public String model() {
    return model;
  }

  /**
   * Returns the adapter's name.
   *
   * @return the adapter, or null for the base model
   */
  public @Nullable String lora() {
    return lora;
  }

  byte[] key() {
    return key;
  }

  /** Writes each char by itself: a charset would make one of all malformed surrogates. */
  private static void encode(@Nullable String name, ByteArrayOutputStream out) {
    if (name == null) {
      out.write(ABSENT);
      return;
    }
    ByteArrayOutputStream spelled = new ByteArrayOutputStream(name.length() + 4);
    writeVarint(name.length(), spelled);
    for (int i = 0; i < name.length(); i++) {
      writeVarint(name.charAt(i), spelled);
    }
    if (name.length() <= LONGEST_NAME) {
      out.write(SPELLED);
      out.writeBytes(spelled.toByteArray());
    } else {
      out.write(DIGESTED);
      out.writeBytes(sha256(spelled.toByteArray()));
    }
  }

  private static void writeVarint(int value, ByteArrayOutputStream out) {
    int rest = value;
    while (rest >= 0x80) {
      out.write(rest | 0x80);
      rest >>>= 7;
    }
    out.write(rest);
  }

  private static byte[] sha256(byte[] bytes) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(bytes);
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every Java platform has SHA-256", e);
    }
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof PrefixNamespace that && Arrays.equals(key, that.key);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(key);
  }

  /** Names the model and the adapter; the salt and the tenant are not for logs. */
  @Override
  public String toString() {
    return "PrefixNamespace["
        + model
        + (lora == null ? "" : ", lora=" + lora)
        + (salt == null ? "" : ", salted")
        + (tenant == null ? "" : ", of a tenant")
        + "]";
  }
}
