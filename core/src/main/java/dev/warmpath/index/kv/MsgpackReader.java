package dev.warmpath.index.kv;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Reads MessagePack (msgpack/msgpack, spec.md) from a byte array, value after value, as a message
 * of an engine holds it: what is not wanted is skipped, and nothing is trusted. Not thread safe.
 */
final class MsgpackReader {
  /** Nothing that engines send is nested deeper. */
  private static final int MOST_DEPTH = 16;

  private static final VarHandle SHORT = view(short[].class);
  private static final VarHandle INT = view(int[].class);
  private static final VarHandle LONG = view(long[].class);
  private static final VarHandle FLOAT = view(float[].class);
  private static final VarHandle DOUBLE = view(double[].class);

  private static final int LONGEST_NAME = 32;
  private static final int NAMES = 64;

  private final @Nullable String[] names = new String[NAMES];
  private byte[] bytes = {};
  private int at;

  /** What the next value is. */
  enum Kind {
    NIL,
    BOOLEAN,
    INTEGER,
    FLOAT,
    STRING,
    BINARY,
    ARRAY,
    MAP,
    EXTENSION
  }

  private static VarHandle view(Class<?> type) {
    return MethodHandles.byteArrayViewVarHandle(type, ByteOrder.BIG_ENDIAN);
  }

  /** Begins a message. */
  void reset(byte[] message) {
    bytes = message;
    at = 0;
  }

  boolean atEnd() {
    return at == bytes.length;
  }

  /** What comes next. */
  Kind next() {
    int type = peek();
    if (type <= 0x7f || type >= 0xe0) {
      return Kind.INTEGER;
    }
    if (type <= 0x8f) {
      return Kind.MAP;
    }
    if (type <= 0x9f) {
      return Kind.ARRAY;
    }
    if (type <= 0xbf) {
      return Kind.STRING;
    }
    return switch (type) {
      case 0xc0 -> Kind.NIL;
      case 0xc2, 0xc3 -> Kind.BOOLEAN;
      case 0xc4, 0xc5, 0xc6 -> Kind.BINARY;
      case 0xca, 0xcb -> Kind.FLOAT;
      case 0xcc, 0xcd, 0xce, 0xcf, 0xd0, 0xd1, 0xd2, 0xd3 -> Kind.INTEGER;
      case 0xd9, 0xda, 0xdb -> Kind.STRING;
      case 0xdc, 0xdd -> Kind.ARRAY;
      case 0xde, 0xdf -> Kind.MAP;
      case 0xc7, 0xc8, 0xc9, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8 -> Kind.EXTENSION;
      default -> throw new MalformedBatchException("there is no type " + type);
    };
  }

  /** Takes a nil if that is next. */
  boolean nil() {
    if (peek() != 0xc0) {
      return false;
    }
    at++;
    return true;
  }

  /** An integer as 64 bits: one beyond the largest signed one keeps its bits. */
  long integer() {
    int type = peek();
    at++;
    if (type <= 0x7f) {
      return type;
    }
    if (type >= 0xe0) {
      return (byte) type;
    }
    return switch (type) {
      case 0xcc -> bytes[skipped(1)] & 0xff;
      case 0xcd -> (short) SHORT.get(bytes, skipped(2)) & 0xffff;
      case 0xce -> (int) INT.get(bytes, skipped(4)) & 0xffffffffL;
      case 0xd0 -> bytes[skipped(1)];
      case 0xd1 -> (short) SHORT.get(bytes, skipped(2));
      case 0xd2 -> (int) INT.get(bytes, skipped(4));
      case 0xcf, 0xd3 -> (long) LONG.get(bytes, skipped(8));
      default -> throw wrong("an integer", type);
    };
  }

  /** A number of any kind. */
  double number() {
    int type = peek();
    if (type == 0xca) {
      at++;
      return (float) FLOAT.get(bytes, skipped(4));
    }
    if (type == 0xcb) {
      at++;
      return (double) DOUBLE.get(bytes, skipped(8));
    }
    return integer();
  }

  /** Begins an array, and returns how many values follow: never more than there are bytes. */
  int array() {
    int type = peek();
    at++;
    if (type >= 0x90 && type <= 0x9f) {
      return count(type & 15, 1);
    }
    return switch (type) {
      case 0xdc -> count((short) SHORT.get(bytes, skipped(2)) & 0xffff, 1);
      case 0xdd -> count((int) INT.get(bytes, skipped(4)) & 0xffffffffL, 1);
      default -> throw wrong("an array", type);
    };
  }

  /** Begins a map, and returns how many pairs of values follow. */
  int map() {
    int type = peek();
    at++;
    if (type >= 0x80 && type <= 0x8f) {
      return count(type & 15, 2);
    }
    return switch (type) {
      case 0xde -> count((short) SHORT.get(bytes, skipped(2)) & 0xffff, 2);
      case 0xdf -> count((int) INT.get(bytes, skipped(4)) & 0xffffffffL, 2);
      default -> throw wrong("a map", type);
    };
  }

  private int count(long values, int bytesEach) {
    if (values * bytesEach > bytes.length - at) {
      throw new MalformedBatchException("more values are announced than there are bytes");
    }
    return (int) values;
  }

  /** A string. */
  String string() {
    int length = stringLength();
    return new String(bytes, skipped(length), length, StandardCharsets.UTF_8);
  }

  /** A string that is one of few, such as a name of the format: known ones are not made anew. */
  String name() {
    int length = stringLength();
    int from = skipped(length);
    if (length == 0 || length > LONGEST_NAME) {
      return new String(bytes, from, length, StandardCharsets.UTF_8);
    }
    int slot = (length * 31 + bytes[from] * 7 + bytes[from + length - 1]) & NAMES - 1;
    String known = names[slot];
    if (known == null || !same(known, from, length)) {
      known = new String(bytes, from, length, StandardCharsets.UTF_8);
      names[slot] = known;
    }
    return known;
  }

  private boolean same(String name, int from, int length) {
    if (name.length() != length) {
      return false;
    }
    for (int i = 0; i < length; i++) {
      if (name.charAt(i) != bytes[from + i]) {
        return false;
      }
    }
    return true;
  }

  private int stringLength() {
    int type = peek();
    at++;
    if (type >= 0xa0 && type <= 0xbf) {
      return type & 31;
    }
    return switch (type) {
      case 0xd9 -> bytes[skipped(1)] & 0xff;
      case 0xda -> (short) SHORT.get(bytes, skipped(2)) & 0xffff;
      case 0xdb -> count((int) INT.get(bytes, skipped(4)) & 0xffffffffL, 1);
      default -> throw wrong("a string", type);
    };
  }

  /** Takes bytes, and returns the last 64 bits of them. */
  long lastBits() {
    int type = peek();
    at++;
    int length =
        switch (type) {
          case 0xc4 -> bytes[skipped(1)] & 0xff;
          case 0xc5 -> (short) SHORT.get(bytes, skipped(2)) & 0xffff;
          case 0xc6 -> count((int) INT.get(bytes, skipped(4)) & 0xffffffffL, 1);
          default -> throw wrong("bytes", type);
        };
    if (length < Long.BYTES) {
      throw new MalformedBatchException("a hash of " + length + " bytes");
    }
    return (long) LONG.get(bytes, skipped(length) + length - Long.BYTES);
  }

  /** Leaves out a value. */
  void skip() {
    skip(0);
  }

  private void skip(int depth) {
    if (depth > MOST_DEPTH) {
      throw new MalformedBatchException("values are nested too deeply");
    }
    switch (next()) {
      case NIL, BOOLEAN -> at++;
      case INTEGER -> integer();
      case FLOAT -> number();
      case STRING -> {
        int length = stringLength();
        at = skipped(length) + length;
      }
      case BINARY, EXTENSION -> skipBytes();
      case ARRAY -> {
        int count = array();
        for (int i = 0; i < count; i++) {
          skip(depth + 1);
        }
      }
      case MAP -> {
        int count = map();
        for (int i = 0; i < 2 * count; i++) {
          skip(depth + 1);
        }
      }
    }
  }

  private void skipBytes() {
    int type = peek();
    at++;
    long length =
        switch (type) {
          case 0xc4 -> bytes[skipped(1)] & 0xff;
          case 0xc5 -> (short) SHORT.get(bytes, skipped(2)) & 0xffff;
          case 0xc6 -> (int) INT.get(bytes, skipped(4)) & 0xffffffffL;
          // The type of an extension is a byte more.
          case 0xc7 -> 1 + (bytes[skipped(1)] & 0xff);
          case 0xc8 -> 1 + ((short) SHORT.get(bytes, skipped(2)) & 0xffff);
          case 0xc9 -> 1 + ((int) INT.get(bytes, skipped(4)) & 0xffffffffL);
          default -> 1 + (1L << (type - 0xd4));
        };
    skipped(count(length, 1));
  }

  private int peek() {
    if (at >= bytes.length) {
      throw new MalformedBatchException("it ends too early");
    }
    return bytes[at] & 0xff;
  }

  /** Where some bytes begin that are taken. */
  private int skipped(int length) {
    int from = at;
    if (length > bytes.length - from) {
      throw new MalformedBatchException("it ends too early");
    }
    at = from + length;
    return from;
  }

  private static MalformedBatchException wrong(String expected, int type) {
    return new MalformedBatchException("type " + type + " is not " + expected);
  }
}
