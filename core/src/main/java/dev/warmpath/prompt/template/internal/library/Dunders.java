package dev.warmpath.prompt.template.internal.library;

import dev.warmpath.prompt.template.internal.python.DictView;
import dev.warmpath.prompt.template.internal.python.Namespace;
import dev.warmpath.prompt.template.internal.python.Numbers;
import dev.warmpath.prompt.template.internal.python.Py;
import dev.warmpath.prompt.template.internal.python.PyCallable;
import dev.warmpath.prompt.template.internal.python.PyIterator;
import dev.warmpath.prompt.template.internal.python.PyNone;
import dev.warmpath.prompt.template.internal.python.PyObject;
import dev.warmpath.prompt.template.internal.python.PyRange;
import dev.warmpath.prompt.template.internal.python.PyTuple;
import dev.warmpath.prompt.template.internal.python.Undefined;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Which special attributes Python's types have. None can be read in the sandbox; whether one exists
 * decides between an unsafe and an undefined one.
 */
final class Dunders {
  /** The private attributes of an undefined value. */
  static final Set<String> UNDEFINED_SLOTS =
      Set.of(
          "_undefined_hint",
          "_undefined_obj",
          "_undefined_name",
          "_undefined_exception",
          "_undefined_message",
          "_fail_with_undefined_error");

  private static final Set<String> OBJECT =
      names(
          "class delattr dir doc eq format ge getattribute getstate gt hash init init_subclass le"
              + " lt ne new reduce reduce_ex repr setattr sizeof str subclasshook");
  private static final Set<String> STRING =
      names("add contains getitem getnewargs iter len mod mul rmod rmul");
  private static final Set<String> NUMBER =
      names(
          "abs add bool ceil divmod float floor floordiv getnewargs int mod mul neg pos pow radd"
              + " rdivmod rfloordiv rmod rmul round rpow rsub rtruediv sub truediv trunc");
  private static final Set<String> INTEGER =
      names("and index invert lshift or rand rlshift ror rrshift rshift rxor xor");
  private static final Set<String> LIST =
      names(
          "add class_getitem contains delitem getitem iadd imul iter len mul reversed rmul"
              + " setitem");
  private static final Set<String> TUPLE =
      names("add class_getitem contains getitem getnewargs iter len mul rmul");
  private static final Set<String> DICT =
      names("class_getitem contains delitem getitem ior iter len or reversed ror setitem");
  private static final Set<String> RANGE = names("bool contains getitem iter len reversed");
  private static final Set<String> SET_VIEW =
      names("and contains iter len or rand reversed ror rsub rxor sub xor");
  private static final Set<String> VALUES_VIEW = names("iter len reversed");
  private static final Set<String> ITERATOR = names("del iter name next qualname");
  private static final Set<String> CALLABLE =
      names("call name qualname self module text_signature");
  private static final Set<String> UNDEFINED =
      names(
          "add radd sub rsub mul rmul div rdiv truediv rtruediv floordiv rfloordiv mod rmod pos neg"
              + " call getitem int float complex pow rpow len iter aiter bool module slots"
              + " getattr");
  private static final Set<String> INSTANCE = names("dict module weakref");

  private Dunders() {}

  private static Set<String> names(String words) {
    Set<String> names = new java.util.HashSet<>();
    for (String word : words.split(" ", -1)) {
      names.add("__" + word + "__");
    }
    return Set.copyOf(names);
  }

  static boolean has(Object object, String name) {
    if (object instanceof Namespace) {
      return name.equals("__class__");
    }
    return OBJECT.contains(name) || ofType(object, name);
  }

  private static boolean ofType(Object object, String name) {
    if (Py.isString(object)) {
      return STRING.contains(name)
          || (!(object instanceof String) && (INSTANCE.contains(name) || name.equals("__html__")));
    }
    if (Numbers.isNumber(object)) {
      return NUMBER.contains(name)
          || (Numbers.isFloat(object) ? name.equals("__getformat__") : INTEGER.contains(name));
    }
    if (object instanceof Map) {
      return DICT.contains(name);
    }
    if (object instanceof PyTuple) {
      return TUPLE.contains(name);
    }
    if (object instanceof List) {
      return LIST.contains(name);
    }
    if (object instanceof DictView view) {
      return (view.kind() == DictView.Kind.VALUES ? VALUES_VIEW : SET_VIEW).contains(name);
    }
    if (object instanceof PyNone) {
      return name.equals("__bool__");
    }
    if (object instanceof PyRange) {
      return RANGE.contains(name);
    }
    if (object instanceof PyIterator) {
      return ITERATOR.contains(name);
    }
    if (object instanceof Undefined) {
      return UNDEFINED.contains(name);
    }
    return object instanceof PyObject
        && (INSTANCE.contains(name) || (object instanceof PyCallable && CALLABLE.contains(name)));
  }
}
