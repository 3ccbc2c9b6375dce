package dev.warmpath.index.kv;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/** Writes values as MessagePack, for tests. */
final class Msgpack {
  private Msgpack() {}

  /** An integer that is written in all of its 64 bits, as an unsigned one. */
  record Unsigned(long bits) {}

  static byte[] of(Object value) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try {
      write(value, new DataOutputStream(bytes));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  private static void write(Object value, DataOutputStream to) throws IOException {
    if (value == null) {
      to.write(0xc0);
    } else if (value instanceof Boolean flag) {
      to.write(flag ? 0xc3 : 0xc2);
    } else if (value instanceof Integer || value instanceof Long) {
      integer(((Number) value).longValue(), to);
    } else if (value instanceof Unsigned unsigned) {
      to.write(0xcf);
      to.writeLong(unsigned.bits());
    } else if (value instanceof Double number) {
      to.write(0xcb);
      to.writeDouble(number);
    } else if (value instanceof Float number) {
      to.write(0xca);
      to.writeFloat(number);
    } else if (value instanceof String text) {
      byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
      head(utf8.length, 0xa0, 32, 0xd9, 0xda, 0xdb, to);
      to.write(utf8);
    } else if (value instanceof byte[] binary) {
      head(binary.length, 0, 0, 0xc4, 0xc5, 0xc6, to);
      to.write(binary);
    } else if (value instanceof List<?> list) {
      head(list.size(), 0x90, 16, -1, 0xdc, 0xdd, to);
      for (Object each : list) {
        write(each, to);
      }
    } else if (value instanceof Map<?, ?> map) {
      head(map.size(), 0x80, 16, -1, 0xde, 0xdf, to);
      for (Map.Entry<?, ?> entry : map.entrySet()) {
        write(entry.getKey(), to);
        write(entry.getValue(), to);
      }
    } else {
      throw new IllegalArgumentException(value.getClass().getName());
    }
  }

  private static void integer(long value, DataOutputStream to) throws IOException {
    if (value >= -32 && value < 128) {
      to.write((int) value);
    } else if (value == (byte) value) {
      to.write(0xd0);
      to.writeByte((int) value);
    } else if (value >= 0 && value < 1 << 8) {
      to.write(0xcc);
      to.writeByte((int) value);
    } else if (value == (short) value) {
      to.write(0xd1);
      to.writeShort((int) value);
    } else if (value >= 0 && value < 1 << 16) {
      to.write(0xcd);
      to.writeShort((int) value);
    } else if (value == (int) value) {
      to.write(0xd2);
      to.writeInt((int) value);
    } else if (value >= 0 && value < 1L << 32) {
      to.write(0xce);
      to.writeInt((int) value);
    } else {
      to.write(0xd3);
      to.writeLong(value);
    }
  }

  private static void head(
      int size, int fixed, int below, int one, int two, int four, DataOutputStream to)
      throws IOException {
    if (size < below) {
      to.write(fixed | size);
    } else if (one >= 0 && size < 1 << 8) {
      to.write(one);
      to.writeByte(size);
    } else if (size < 1 << 16) {
      to.write(two);
      to.writeShort(size);
    } else {
      to.write(four);
      to.writeInt(size);
    }
  }
}
