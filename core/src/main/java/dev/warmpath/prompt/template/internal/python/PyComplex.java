package dev.warmpath.prompt.template.internal.python;

/**
 * Python's {@code complex}, which only a fractional power of a negative number makes.
 *
 * @param real real part
 * @param imaginary imaginary part
 */
public record PyComplex(double real, double imaginary) implements PyObject {
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
