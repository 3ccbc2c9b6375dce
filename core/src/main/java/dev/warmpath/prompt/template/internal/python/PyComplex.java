package dev.warmpath.prompt.template.internal.python;

/**
 * Python's {@code complex}, which only a fractional power of a negative number makes.
 *
 * @param real real part
 * @param imaginary imaginary part
 */
public record PyComplex(double real, double imaginary) implements PyObject {
  /** Whether an operation on two values is one of complex numbers. */
  static boolean isOperand(Object a, Object b) {
    return (a instanceof PyComplex && (b instanceof PyComplex || Numbers.isNumber(b)))
        || (b instanceof PyComplex && Numbers.isNumber(a));
  }

  private static PyComplex of(Object o) {
    return o instanceof PyComplex c ? c : new PyComplex(Numbers.asDouble(o), 0);
  }

  static PyComplex add(Object a, Object b) {
    return new PyComplex(of(a).real + of(b).real, of(a).imaginary + of(b).imaginary);
  }

  static PyComplex subtract(Object a, Object b) {
    return new PyComplex(of(a).real - of(b).real, of(a).imaginary - of(b).imaginary);
  }

  static PyComplex multiply(Object a, Object b) {
    PyComplex x = of(a);
    PyComplex y = of(b);
    return new PyComplex(
        x.real * y.real - x.imaginary * y.imaginary, x.real * y.imaginary + x.imaginary * y.real);
  }

  static PyComplex divide(Object a, Object b) {
    PyComplex x = of(a);
    PyComplex y = of(b);
    if (y.real == 0 && y.imaginary == 0) {
      throw PyError.of("ZeroDivisionError", "complex division by zero");
    }
    // by the larger part of the divisor, so that nothing overflows in between
    if (Math.abs(y.real) >= Math.abs(y.imaginary)) {
      double ratio = y.imaginary / y.real;
      double denominator = y.real + y.imaginary * ratio;
      return new PyComplex(
          (x.real + x.imaginary * ratio) / denominator,
          (x.imaginary - x.real * ratio) / denominator);
    }
    double ratio = y.real / y.imaginary;
    double denominator = y.real * ratio + y.imaginary;
    return new PyComplex(
        (x.real * ratio + x.imaginary) / denominator, (x.imaginary * ratio - x.real) / denominator);
  }

  @Override
  public boolean isTrue(Rendering r) {
    return real != 0 || imaginary != 0;
  }

  @Override
  public String typeName() {
    return "complex";
  }

  @Override
  public Object attribute(Rendering r, String name) {
    return switch (name) {
      case "real" -> real;
      case "imag" -> imaginary;
      default -> Missing.MISSING;
    };
  }

  @Override
  public void repr(Repr out) {
    out.append('(').append(part(real));
    if (imaginary >= 0 || Double.isNaN(imaginary)) {
      out.append('+');
    }
    out.append(part(imaginary)).append("j)");
  }

  private static String part(double d) {
    String s = FloatText.repr(d);
    return s.endsWith(".0") ? s.substring(0, s.length() - 2) : s;
  }
}
