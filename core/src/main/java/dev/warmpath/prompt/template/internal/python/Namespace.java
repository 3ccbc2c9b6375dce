package dev.warmpath.prompt.template.internal.python;

/** What {@code namespace()} gives: the one object whose attributes a template can set. */
public final class Namespace implements PyObject {
  private final PyDict attributes;

  /** Holds the attributes given. */
  public Namespace(PyDict attributes) {
    this.attributes = attributes;
  }

  /** Sets an attribute. */
  public void set(String name, Object value) {
    attributes.set(name, value);
  }

  @Override
  public String typeName() {
    return "Namespace";
  }

  @Override
  public String qualifiedTypeName() {
    return "jinja2.utils.Namespace";
  }

  @Override
  public Object attribute(Rendering r, String name) {
    return Dicts.get(attributes, name);
  }

  @Override
  public void repr(Repr out) {
    out.append("<Namespace ");
    out.value(attributes);
    out.append('>');
  }
}
