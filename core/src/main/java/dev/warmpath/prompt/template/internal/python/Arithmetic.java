package dev.warmpath.prompt.template.internal.python;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.List;

/** Python's arithmetic operators over all types. */
public final class Arithmetic {
  /** Wider ints are refused: 40,000 digits are more than any prompt counts. */
  private static final int MAX_BITS = 1 << 17;

  private static final BigInteger EXACT_DOUBLE = BigInteger.ONE.shiftLeft(53);

  private Arithmetic() {}

  /** {@code a + b}. */
  public static Object add(Rendering r, Object a, Object b) {
    if (a instanceof String s && b instanceof String t) {
      r.chargeChars((long) s.length() + t.length());
      return s.concat(t);
    }
    if (Numbers.isNumber(a) && Numbers.isNumber(b)) {
      if (Numbers.isFloat(a) || Numbers.isFloat(b)) {
        return Numbers.asDouble(a) + Numbers.asDouble(b);
      }
      if (Numbers.isLong(a) && Numbers.isLong(b)) {
        long x = Numbers.asLong(a);
        long y = Numbers.asLong(b);
        long sum = x + y;
        if (((x ^ sum) & (y ^ sum)) >= 0) {
          return sum;
        }
      }
      return bounded(r, Numbers.asBig(a).add(Numbers.asBig(b)));
    }
    if (PyComplex.isOperand(a, b)) {
      return PyComplex.add(a, b);
    }
    refuseUndefined(a, b);
    if (Py.isString(a)) {
      if (!Py.isString(b)) {
        if (a instanceof Markup) {
          throw unsupported("+", a, b);
        }
        throw PyError.type("can only concatenate str (not \"" + Py.typeName(b) + "\") to str");
      }
      String joined = Markup.escape(r, a).text() + Markup.escape(r, b).text();
      r.chargeChars(joined.length());
      return new Markup(joined);
    }
    if (a instanceof List<?> x) {
      boolean tuple = a instanceof PyTuple;
      if (!(b instanceof List<?> y) || tuple != b instanceof PyTuple) {
        String type = tuple ? "tuple" : "list";
        throw PyError.type(
            "can only concatenate " + type + " (not \"" + Py.typeName(b) + "\") to " + type);
      }
      r.charge((long) x.size() + y.size());
      List<Object> joined = new ArrayList<>(x.size() + y.size());
      x.forEach(e -> joined.add(Py.in(e)));
      y.forEach(e -> joined.add(Py.in(e)));
      return tuple ? new PyTuple(joined.toArray()) : joined;
    }
    if (a instanceof PyBytes x && b instanceof PyBytes y) {
      byte[] joined = new byte[x.bytes().length + y.bytes().length];
      r.chargeChars(joined.length);
      System.arraycopy(x.bytes(), 0, joined, 0, x.bytes().length);
      System.arraycopy(y.bytes(), 0, joined, x.bytes().length, y.bytes().length);
      return new PyBytes(joined);
    }
    throw unsupported("+", a, b);
  }

  /** {@code a - b}. */
  public static Object subtract(Rendering r, Object a, Object b) {
    if (Numbers.isNumber(a) && Numbers.isNumber(b)) {
      if (Numbers.isFloat(a) || Numbers.isFloat(b)) {
        return Numbers.asDouble(a) - Numbers.asDouble(b);
      }
      if (Numbers.isLong(a) && Numbers.isLong(b)) {
        long x = Numbers.asLong(a);
        long y = Numbers.asLong(b);
        long difference = x - y;
        if (((x ^ y) & (x ^ difference)) >= 0) {
          return difference;
        }
      }
      return bounded(r, Numbers.asBig(a).subtract(Numbers.asBig(b)));
    }
    if (PyComplex.isOperand(a, b)) {
      return PyComplex.subtract(a, b);
    }
    refuseUndefined(a, b);
    throw unsupported("-", a, b);
  }

  /** {@code a * b}. */
  public static Object multiply(Rendering r, Object a, Object b) {
    if (Numbers.isNumber(a) && Numbers.isNumber(b)) {
      if (Numbers.isFloat(a) || Numbers.isFloat(b)) {
        return Numbers.asDouble(a) * Numbers.asDouble(b);
      }
      if (Numbers.isLong(a) && Numbers.isLong(b)) {
        long x = Numbers.asLong(a);
        long y = Numbers.asLong(b);
        long high = Math.multiplyHigh(x, y);
        long low = x * y;
        if ((high == 0 && low >= 0) || (high == -1 && low < 0)) {
          return low;
        }
      }
      BigInteger x = Numbers.asBig(a);
      BigInteger y = Numbers.asBig(b);
      r.charge(((long) x.bitLength() * y.bitLength()) >>> 14);
      return bounded(r, x.multiply(y));
    }
    if (PyComplex.isOperand(a, b)) {
      return PyComplex.multiply(a, b);
    }
    refuseUndefined(a, b);
    if (isSequence(a)) {
      return repeat(r, a, b);
    }
    if (isSequence(b)) {
      return repeat(r, b, a);
    }
    throw unsupported("*", a, b);
  }

  private static boolean isSequence(Object o) {
    return Py.isString(o) || o instanceof List || o instanceof PyBytes;
  }

  private static Object repeat(Rendering r, Object sequence, Object times) {
    if (!Numbers.isIntegral(times) && sequence instanceof Markup) {
      throw PyError.type("'" + Py.typeName(times) + "' object cannot be interpreted as an integer");
    }
    if (!Numbers.isIntegral(times)) {
      throw PyError.type("can't multiply sequence by non-int of type '" + Py.typeName(times) + "'");
    }
    if (!Numbers.isLong(times)) {
      throw PyError.overflow("cannot fit 'int' into an index-sized integer");
    }
    long count = Math.max(Numbers.asLong(times), 0);
    if (Py.isString(sequence)) {
      String s = Py.text(sequence);
      r.chargeChars(s.isEmpty() ? 0 : saturatedProduct(s.length(), count));
      String repeated = s.isEmpty() ? s : s.repeat((int) count);
      return sequence instanceof Markup ? new Markup(repeated) : repeated;
    }
    if (sequence instanceof PyBytes bytes) {
      r.chargeChars(saturatedProduct(bytes.bytes().length, count));
      byte[] repeated = new byte[(int) (bytes.bytes().length * count)];
      for (int i = 0; i < repeated.length; i++) {
        repeated[i] = bytes.bytes()[i % bytes.bytes().length];
      }
      return new PyBytes(repeated);
    }
    List<?> list = (List<?>) sequence;
    long size = saturatedProduct(list.size(), count);
    r.charge(size);
    List<Object> repeated = new ArrayList<>((int) size);
    if (size > 0) {
      for (long i = 0; i < count; i++) {
        list.forEach(e -> repeated.add(Py.in(e)));
      }
    }
    return sequence instanceof PyTuple ? new PyTuple(repeated.toArray()) : repeated;
  }

  private static long saturatedProduct(int size, long count) {
    return size == 0 ? 0 : count > Long.MAX_VALUE / size ? Long.MAX_VALUE : size * count;
  }

  /** {@code a / b}. */
  public static Object divide(Rendering r, Object a, Object b) {
    if (Numbers.isNumber(a) && Numbers.isNumber(b)) {
      if (Numbers.isFloat(a) || Numbers.isFloat(b)) {
        double divisor = Numbers.asDouble(b);
        double dividend = Numbers.asDouble(a);
        if (divisor == 0) {
          throw zeroDivision("float division by zero");
        }
        return dividend / divisor;
      }
      BigInteger x = Numbers.asBig(a);
      BigInteger y = Numbers.asBig(b);
      if (y.signum() == 0) {
        throw zeroDivision("division by zero");
      }
      if (x.abs().compareTo(EXACT_DOUBLE) <= 0 && y.abs().compareTo(EXACT_DOUBLE) <= 0) {
        return x.doubleValue() / y.doubleValue();
      }
      r.charge(((long) x.bitLength() * y.bitLength()) >>> 14);
      // 60 digits settle all but ties; a tie has at most 54 bits and is exact
      double quotient =
          new BigDecimal(x).divide(new BigDecimal(y), new MathContext(60)).doubleValue();
      if (Double.isInfinite(quotient)) {
        throw PyError.overflow("integer division result too large for a float");
      }
      return quotient;
    }
    if (PyComplex.isOperand(a, b)) {
      return PyComplex.divide(a, b);
    }
    refuseUndefined(a, b);
    throw unsupported("/", a, b);
  }

  /** {@code a // b}. */
  public static Object floorDivide(Rendering r, Object a, Object b) {
    if (Numbers.isNumber(a) && Numbers.isNumber(b)) {
      if (Numbers.isFloat(a) || Numbers.isFloat(b)) {
        return floorDivide(Numbers.asDouble(a), Numbers.asDouble(b));
      }
      if (Numbers.isLong(a) && Numbers.isLong(b) && Numbers.asLong(a) != Long.MIN_VALUE) {
        if (Numbers.asLong(b) == 0) {
          throw zeroDivision("integer division or modulo by zero");
        }
        return Math.floorDiv(Numbers.asLong(a), Numbers.asLong(b));
      }
      return Numbers.of(floorDivMod(r, a, b, "integer division or modulo by zero")[0]);
    }
    refuseUndefined(a, b);
    throw unsupported("//", a, b);
  }

  private static double floorDivide(double x, double y) {
    if (y == 0) {
      throw zeroDivision("float floor division by zero");
    }
    double modulus = x % y;
    double quotient = (x - modulus) / y;
    if (modulus != 0 && y < 0 != modulus < 0) {
      quotient -= 1;
    }
    if (quotient == 0) {
      return Math.copySign(0, x / y);
    }
    double floor = Math.floor(quotient);
    return quotient - floor > 0.5 ? floor + 1 : floor;
  }

  private static BigInteger[] floorDivMod(Rendering r, Object a, Object b, String whenZero) {
    BigInteger x = Numbers.asBig(a);
    BigInteger y = Numbers.asBig(b);
    if (y.signum() == 0) {
      throw zeroDivision(whenZero);
    }
    r.charge(((long) x.bitLength() * y.bitLength()) >>> 14);
    BigInteger[] result = x.divideAndRemainder(y);
    if (result[1].signum() != 0 && result[1].signum() != y.signum()) {
      result[0] = result[0].subtract(BigInteger.ONE);
      result[1] = result[1].add(y);
    }
    return result;
  }

  /** {@code a % b}, which formats where {@code a} is a string. */
  public static Object modulo(Rendering r, Object a, Object b) {
    if (Py.isString(a)) {
      return PercentFormat.format(r, a, b);
    }
    if (Numbers.isNumber(a) && Numbers.isNumber(b)) {
      if (Numbers.isFloat(a) || Numbers.isFloat(b)) {
        double x = Numbers.asDouble(a);
        double y = Numbers.asDouble(b);
        if (y == 0) {
          throw zeroDivision("float modulo");
        }
        double modulus = x % y;
        if (modulus == 0) {
          return Math.copySign(0, y);
        }
        return y < 0 != modulus < 0 ? modulus + y : modulus;
      }
      if (Numbers.isLong(a) && Numbers.isLong(b) && Numbers.asLong(b) != 0) {
        return Math.floorMod(Numbers.asLong(a), Numbers.asLong(b));
      }
      return Numbers.of(floorDivMod(r, a, b, "integer modulo by zero")[1]);
    }
    refuseUndefined(a, b);
    throw unsupported("%", a, b);
  }

  /** {@code a ** b}. */
  public static Object power(Rendering r, Object a, Object b) {
    if (Numbers.isNumber(a) && Numbers.isNumber(b)) {
      if (Numbers.isFloat(a) || Numbers.isFloat(b) || Numbers.asBig(b).signum() < 0) {
        return power(Numbers.asDouble(a), Numbers.asDouble(b));
      }
      BigInteger base = Numbers.asBig(a);
      BigInteger exponent = Numbers.asBig(b);
      if ((base.bitLength() <= 1 && base.signum() >= 0) || base.equals(BigInteger.ONE.negate())) {
        boolean even = !exponent.testBit(0);
        return exponent.signum() == 0
            ? 1L
            : base.signum() == 0 ? 0L : base.signum() > 0 || even ? 1L : -1L;
      }
      if (exponent.bitLength() > 31
          || (long) base.bitLength() * exponent.intValue() > MAX_BITS + 64L) {
        throw PyError.limit("an int would have more than " + MAX_BITS + " bits");
      }
      long bits = (long) base.bitLength() * exponent.intValue();
      r.charge((bits * bits) >>> 14);
      return bounded(r, base.pow(exponent.intValue()));
    }
    refuseUndefined(a, b);
    throw unsupported("** or pow()", a, b);
  }

  private static Object power(double x, double y) {
    if (y == 0 || x == 1 || (x == -1 && Double.isInfinite(y))) {
      return 1.0;
    }
    if (x == 0 && y < 0) {
      throw zeroDivision("0.0 cannot be raised to a negative power");
    }
    if (x < 0 && !Double.isInfinite(x) && !Double.isInfinite(y) && y != Math.floor(y)) {
      double modulus = Math.pow(-x, y);
      double angle = Math.PI * y;
      return new PyComplex(modulus * Math.cos(angle), modulus * Math.sin(angle));
    }
    double result = Math.pow(x, y);
    if (Double.isInfinite(result) && !Double.isInfinite(x) && !Double.isInfinite(y)) {
      throw PyError.overflow("(34, 'Numerical result out of range')");
    }
    return result;
  }

  /** {@code -a}. */
  public static Object negate(Object a) {
    if (Numbers.isFloat(a)) {
      return -Numbers.asDouble(a);
    }
    if (Numbers.isIntegral(a)) {
      return Numbers.isLong(a) && Numbers.asLong(a) != Long.MIN_VALUE
          ? (Object) (-Numbers.asLong(a))
          : Numbers.of(Numbers.asBig(a).negate());
    }
    if (a instanceof PyComplex c) {
      return new PyComplex(-c.real(), -c.imaginary());
    }
    throw badOperand("unary -", a);
  }

  /** {@code +a}. */
  public static Object plus(Object a) {
    if (Numbers.isFloat(a)) {
      return Numbers.asDouble(a);
    }
    if (Numbers.isIntegral(a)) {
      return Numbers.of(Numbers.asBig(a));
    }
    if (a instanceof PyComplex) {
      return a;
    }
    throw badOperand("unary +", a);
  }

  /** {@code abs(a)}. */
  public static Object absolute(Object a) {
    if (Numbers.isFloat(a)) {
      return Math.abs(Numbers.asDouble(a));
    }
    if (Numbers.isIntegral(a)) {
      return Numbers.of(Numbers.asBig(a).abs());
    }
    if (a instanceof PyComplex c) {
      return Math.hypot(c.real(), c.imaginary());
    }
    throw PyError.type("bad operand type for abs(): '" + Py.typeName(a) + "'");
  }

  private static Object bounded(Rendering r, BigInteger b) {
    int bits = b.bitLength();
    if (bits > MAX_BITS) {
      throw PyError.limit("an int would have more than " + MAX_BITS + " bits");
    }
    r.charge(bits / 64);
    return Numbers.of(b);
  }

  private static void refuseUndefined(Object a, Object b) {
    if (a instanceof Undefined undefined) {
      throw undefined.error();
    }
    if (b instanceof Undefined undefined) {
      throw undefined.error();
    }
  }

  private static PyError badOperand(String operator, Object a) {
    return a instanceof Undefined undefined
        ? undefined.error()
        : PyError.type("bad operand type for " + operator + ": '" + Py.typeName(a) + "'");
  }

  private static PyError zeroDivision(String message) {
    return PyError.of("ZeroDivisionError", message);
  }

  private static PyError unsupported(String operator, Object a, Object b) {
    return PyError.type(
        "unsupported operand type(s) for "
            + operator
            + ": '"
            + Py.typeName(a)
            + "' and '"
            + Py.typeName(b)
            + "'");
  }
}
