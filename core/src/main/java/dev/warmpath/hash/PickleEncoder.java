package dev.warmpath.hash;

import java.util.List;

/**
 * Python's pickle, protocol 5, as CPython's C pickler writes tuples of bytes, ints and texts
 * (CPython, {@code Modules/_pickle.c}). Covers what fits into one frame and has no object twice.
 */
final class PickleEncoder extends BlockEncoder {

  /** PROTO, its number, FRAME and the frame's length. */
  private static final int HEADER = 11;

  private static final int FRAME_LIMIT = 64 * 1024;

  private static final int PROTO = 0x80;
  private static final int FRAME = 0x95;
  private static final int MEMOIZE = 0x94;
  private static final int STOP = '.';
  private static final int NONE = 'N';
  private static final int MARK = '(';
  private static final int TUPLE = 't';
  private static final int TUPLE_1 = 0x85;
  private static final int BININT = 'J';
  private static final int BININT1 = 'K';
  private static final int BININT2 = 'M';
  private static final int LONG1 = 0x8A;
  private static final int SHORT_BINBYTES = 'C';
  private static final int BINBYTES = 'B';
  private static final int SHORT_BINUNICODE = 0x8C;
  private static final int BINUNICODE = 'X';

  /** By leading zeros of a 32-bit id: the opcode and, for LONG1, its length; then bytes in all. */
  private static final short[] OPCODE = new short[33];

  private static final byte[] SHIFT = new byte[33];
  private static final byte[] SIZE = new byte[33];

  static {
    for (int zeros = 0; zeros <= 32; zeros++) {
      int opcode = zeros >= 24 ? BININT1 : zeros >= 16 ? BININT2 : BININT;
      OPCODE[zeros] = (short) opcode;
      SHIFT[zeros] = 8;
      SIZE[zeros] = (byte) (zeros >= 24 ? 2 : zeros >= 16 ? 3 : 5);
    }
    // From 2^31 on an id does not fit BININT's signed 32 bits: LONG1 with a fifth byte for the
    // sign.
    OPCODE[0] = (short) (LONG1 | 5 << 8);
    SHIFT[0] = 16;
    SIZE[0] = 7;
  }

  @Override
  void encodeText(String text) {
    begin();
    putText(text);
    end();
  }

  @Override
  void putNone() {
    ensure(SLACK);
    put(NONE);
  }

  @Override
  void putKeys(List<ExtraKey> keys) {
    beginTuple(keys.size());
    for (ExtraKey key : keys) {
      if (key instanceof ExtraKey.Text text) {
        putText(text.text());
      } else if (key instanceof ExtraKey.Placed placed) {
        beginTuple(2);
        putText(placed.identifier());
        putInt(placed.offset());
        endTuple(2);
      } else {
        byte[] bytes = Bytes.fromHex("an extra key", ((ExtraKey.Raw) key).hex(), -1);
        putBytes(bytes, bytes.length);
      }
    }
    endTuple(keys.size());
  }

  @Override
  void encode(
      byte[] parent, int parentLength, int[] tokens, int from, int count, byte[] extraKeys) {
    begin();
    putBytes(parent, parentLength);
    beginTuple(count);
    ensure(count * 7 + SLACK);
    byte[] bytes = buffer;
    int at = length;
    for (int i = from; i < from + count; i++) {
      int token = tokens[i];
      int zeros = Integer.numberOfLeadingZeros(token);
      long opcode = OPCODE[zeros] & 0xFFFFL;
      Bytes.putLongLe(bytes, at, opcode | Integer.toUnsignedLong(token) << SHIFT[zeros]);
      at += SIZE[zeros];
    }
    length = at;
    endTuple(count);
    finish(extraKeys);
  }

  @Override
  void encodeWide(
      byte[] parent, int parentLength, long[] tokens, int from, int count, byte[] extraKeys) {
    begin();
    putBytes(parent, parentLength);
    beginTuple(count);
    for (int i = from; i < from + count; i++) {
      putInt(tokens[i]);
    }
    endTuple(count);
    finish(extraKeys);
  }

  private void finish(byte[] extraKeys) {
    put(extraKeys, extraKeys.length);
    endTuple(3);
    end();
  }

  private void begin() {
    length = 0;
    put(PROTO);
    put(5);
    put(FRAME);
    length = HEADER;
  }

  private void end() {
    ensure(SLACK);
    put(STOP);
    int body = length - HEADER;
    if (body >= FRAME_LIMIT) {
      throw new UnreproducibleHashException(
          "a block of " + body + " bytes does not fit one pickle frame");
    }
    Bytes.putLongLe(buffer, HEADER - Long.BYTES, body);
  }

  /** Three items and fewer have opcodes of their own that need no mark. */
  private void beginTuple(int items) {
    ensure(SLACK);
    if (items > 3) {
      put(MARK);
    }
  }

  private void endTuple(int items) {
    ensure(SLACK);
    put(items > 3 ? TUPLE : TUPLE_1 + items - 1);
    put(MEMOIZE);
  }

  private void putInt(long value) {
    ensure(SLACK);
    if (value == (int) value) {
      int small = (int) value;
      if ((small & ~0xFF) == 0) {
        put(BININT1);
        put(small);
      } else if ((small & ~0xFFFF) == 0) {
        put(BININT2);
        put(small);
        put(small >> 8);
      } else {
        put(BININT);
        Bytes.putIntLe(buffer, length, small);
        length += Integer.BYTES;
      }
      return;
    }
    int bits = Long.SIZE - Long.numberOfLeadingZeros(value < 0 ? ~value : value);
    int size = bits / Byte.SIZE + 1;
    put(LONG1);
    put(size);
    Bytes.putLongLe(buffer, length, value);
    length += size;
  }

  private void putText(String text) {
    byte[] utf8 = Bytes.utf8(text);
    putSized(SHORT_BINUNICODE, BINUNICODE, utf8, utf8.length);
  }

  private void putBytes(byte[] bytes, int count) {
    putSized(SHORT_BINBYTES, BINBYTES, bytes, count);
  }

  private void putSized(int shortOpcode, int opcode, byte[] bytes, int count) {
    ensure(SLACK);
    if (count < 256) {
      put(shortOpcode);
      put(count);
    } else {
      put(opcode);
      Bytes.putIntLe(buffer, length, count);
      length += Integer.BYTES;
    }
    put(bytes, count);
    put(MEMOIZE);
  }
}
