package dev.warmpath.prompt.template.internal.python;

import java.util.Arrays;

/** Python's {@code bytes}, as {@code str.encode} gives them. */
public final class PyBytes implements PyObject {
  private final byte[] bytes;

  /** Holds the bytes, without copying. */
  public PyBytes(byte[] bytes) {
    this.bytes = bytes;
  }

  /** The bytes; not to be changed. */
  public byte[] bytes() {
    return bytes;
  }

  @Override
  public boolean equals(Object o) {
    return o instanceof PyBytes other && Arrays.equals(bytes, other.bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }

  @Override
  public String typeName() {
    return "bytes";
  }

  @Override
  public boolean isTrue(Rendering r) {
    return bytes.length > 0;
  }

  @Override
  public void repr(Repr out) {
    boolean single = false;
    boolean dbl = false;
    for (byte b : bytes) {
      single |= b == '\'';
      dbl |= b == '"';
    }
    char quote = single && !dbl ? '"' : '\'';
    out.append('b').append(quote);
    for (byte b : bytes) {
      int c = b & 0xff;
      if (c == quote || c == '\\') {
        out.append('\\').append((char) c);
      } else if (c == '\n') {
        out.append("\\n");
      } else if (c == '\r') {
        out.append("\\r");
      } else if (c == '\t') {
        out.append("\\t");
      } else if (c < ' ' || c >= 0x7f) {
        out.append("\\x")
            .append(Character.forDigit(c >> 4, 16))
            .append(Character.forDigit(c & 15, 16));
      } else {
        out.append((char) c);
      }
    }
    out.append(quote);
  }
}
