package dev.warmpath.prompt.template.internal.exec;

import dev.warmpath.prompt.template.internal.python.Args;
import dev.warmpath.prompt.template.internal.python.Markup;
import dev.warmpath.prompt.template.internal.python.Missing;
import dev.warmpath.prompt.template.internal.python.PyCallable;
import dev.warmpath.prompt.template.internal.python.PyDict;
import dev.warmpath.prompt.template.internal.python.PyError;
import dev.warmpath.prompt.template.internal.python.PyNone;
import dev.warmpath.prompt.template.internal.python.PyTuple;
import dev.warmpath.prompt.template.internal.python.Rendering;
import dev.warmpath.prompt.template.internal.python.Repr;
import dev.warmpath.prompt.template.internal.python.Undefined;
import java.util.Arrays;
import java.util.Map;

/** A macro, or the body of a call block: a function and the frame it was defined in. */
final class Macro implements PyCallable {
  private final MacroCode code;
  private final Frame outer;

  Macro(MacroCode code, Frame outer) {
    this.code = code;
    this.outer = outer;
  }

  @Override
  public Object call(Rendering r, Args args) {
    r.enter();
    Frame f = new Frame(code.frameSize(), outer);
    bind(f, args);
    code.entry().enter(f);
    for (int i = 0; i < code.parameterSlots().length; i++) {
      int slot = code.parameterSlots()[i];
      if (f.slots[slot] == Missing.MISSING) {
        f.slots[slot] = code.defaults().get(i).eval(f);
      }
    }
    String text = code.body().capture(f);
    r.leave();
    return r.autoescape() ? new Markup(text) : text;
  }

  private void bind(Frame f, Args args) {
    int count = code.parameterSlots().length;
    Object[] positional = args.positional();
    Map<String, Object> keywords = args.keywords().isEmpty() ? Map.of() : args.mutableKeywords();
    int taken = Math.min(count, positional.length);
    for (int i = 0; i < taken; i++) {
      f.slots[code.parameterSlots()[i]] = positional[i];
    }
    for (int i = taken; i < count && !keywords.isEmpty(); i++) {
      Object value = keywords.remove(code.parameters().get(i));
      if (value != null) {
        f.slots[code.parameterSlots()[i]] = value;
      }
    }
    if (code.callerSlot() >= 0) {
      Object caller = keywords.isEmpty() ? null : keywords.remove("caller");
      f.slots[code.callerSlot()] =
          caller == null || caller == PyNone.NONE ? Undefined.because("No caller defined") : caller;
    }
    if (code.keywordsSlot() >= 0) {
      PyDict rest = new PyDict();
      keywords.forEach(rest::set);
      f.slots[code.keywordsSlot()] = rest;
    } else if (!keywords.isEmpty()) {
      throw keywords.containsKey("caller")
          ? PyError.type(
              "macro "
                  + shownName()
                  + " was invoked with two values for the special caller argument. This is most"
                  + " likely a bug.")
          : PyError.type(
              "macro "
                  + shownName()
                  + " takes no keyword argument "
                  + Repr.ofString(keywords.keySet().iterator().next()));
    }
    if (code.varargsSlot() >= 0) {
      f.slots[code.varargsSlot()] =
          positional.length > count
              ? new PyTuple(Arrays.copyOfRange(positional, count, positional.length))
              : PyTuple.EMPTY;
    } else if (positional.length > count) {
      throw PyError.type("macro " + shownName() + " takes not more than " + count + " argument(s)");
    }
  }

  private String shownName() {
    return code.name().isEmpty() ? "None" : Repr.ofString(code.name());
  }

  @Override
  public String typeName() {
    return "Macro";
  }

  @Override
  public String qualifiedTypeName() {
    return "jinja2.runtime.Macro";
  }

  @Override
  public Object attribute(Rendering r, String attribute) {
    return switch (attribute) {
      case "name" -> code.name().isEmpty() ? PyNone.NONE : code.name();
      case "arguments" -> new PyTuple(code.parameters().toArray());
      case "catch_kwargs" -> code.keywordsSlot() >= 0;
      case "catch_varargs" -> code.varargsSlot() >= 0;
      case "caller" -> code.usesCaller();
      case "explicit_caller" -> code.parameters().contains("caller");
      default -> Missing.MISSING;
    };
  }

  @Override
  public void repr(Repr out) {
    out.append("<Macro ")
        .append(code.name().isEmpty() ? "anonymous" : Repr.ofString(code.name()))
        .append('>');
  }
}
