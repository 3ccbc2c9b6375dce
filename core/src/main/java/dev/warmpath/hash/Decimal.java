package dev.warmpath.hash;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * Decimal digits of 64-bit hashes. A look-up names thousands of blocks by them, and hashes have
 * nearly always all nineteen or twenty: they are made four at a time from a table, without a chain
 * of divisions that wait for one another.
 */
final class Decimal {
  private static final int FOUR_DIGITS = 10_000;
  private static final long EIGHT_DIGITS = 100_000_000;
  private static final int MOST = 20;
  private static final VarHandle FOUR =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

  /** By number: its four digits, the first in the lowest byte. */
  private static final int[] DIGITS = new int[FOUR_DIGITS];

  static {
    for (int i = 0; i < FOUR_DIGITS; i++) {
      DIGITS[i] =
          ('0' + i / 1_000)
              | ('0' + i / 100 % 10) << 8
              | ('0' + i / 10 % 10) << 16
              | ('0' + i % 10) << 24;
    }
  }

  private Decimal() {}

  static String signed(long value) {
    return value < 0 ? text(-value, true) : text(value, false);
  }

  static String unsigned(long value) {
    return text(value, false);
  }

  private static String text(long magnitude, boolean negative) {
    byte[] digits = new byte[MOST];
    long above =
        magnitude >= 0 ? magnitude / EIGHT_DIGITS : Long.divideUnsigned(magnitude, EIGHT_DIGITS);
    int low = (int) (magnitude - above * EIGHT_DIGITS);
    int top = (int) (above / EIGHT_DIGITS);
    int middle = (int) (above - top * EIGHT_DIGITS);
    put(digits, 0, top);
    put(digits, 4, middle / FOUR_DIGITS);
    put(digits, 8, middle % FOUR_DIGITS);
    put(digits, 12, low / FOUR_DIGITS);
    put(digits, 16, low % FOUR_DIGITS);
    int from = 0;
    while (from < MOST - 1 && digits[from] == '0') {
      from++;
    }
    if (negative) { // of which there are nineteen digits at most
      digits[--from] = '-';
    }
    return new String(digits, from, MOST - from, StandardCharsets.ISO_8859_1);
  }

  private static void put(byte[] digits, int at, int four) {
    FOUR.set(digits, at, DIGITS[four]);
  }
}
