package dev.warmpath.prompt.template.internal.python;

/**
 * A method that was read from its object and not yet called.
 *
 * @param self the object
 * @param name the method's name
 * @param method what it does
 */
public record BoundMethod(Object self, String name, Method method) implements PyCallable {
  /** The body of a method. */
  @FunctionalInterface
  public interface Method {
    /** Calls it on an object. */
    Object call(Rendering r, Object self, Args args);
  }

  @Override
  public Object call(Rendering r, Args args) {
    return method.call(r, self, args);
  }

  @Override
  public String typeName() {
    return self instanceof PyObject && !(self instanceof DictView)
        ? "method"
        : "builtin_function_or_method";
  }

  @Override
  @SuppressWarnings("ReferenceEquality") // as Python compares bound methods
  public boolean equals(Object o) {
    return o instanceof BoundMethod other && other.self == self && other.name.equals(name);
  }

  @Override
  public int hashCode() {
    return System.identityHashCode(self) * 31 + name.hashCode();
  }

  @Override
  public void repr(Repr out) {
    out.append("<built-in method ").append(name).append(" of ").append(Py.typeName(self));
    out.append(" object at 0x7f0000000000>");
  }
}
