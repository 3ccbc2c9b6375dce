package dev.warmpath.worker;

import java.util.Objects;

/** An API key that cannot slip into a log: {@link #toString()} never shows it. Immutable. */
public final class Secret {
  private final String value;

  private Secret(String value) {
    this.value = value;
  }

  /** Wraps {@code value}. */
  public static Secret of(String value) {
    return new Secret(Objects.requireNonNull(value, "value"));
  }

  /** The secret itself, for the one place that writes it on the wire. */
  public String reveal() {
    return value;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Secret that && value.equals(that.value);
  }

  @Override
  public int hashCode() {
    return value.hashCode();
  }

  @Override
  public String toString() {
    return "***";
  }
}
