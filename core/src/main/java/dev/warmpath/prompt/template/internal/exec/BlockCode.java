package dev.warmpath.prompt.template.internal.exec;

import dev.warmpath.prompt.template.internal.python.Args;
import dev.warmpath.prompt.template.internal.python.Markup;
import dev.warmpath.prompt.template.internal.python.Missing;
import dev.warmpath.prompt.template.internal.python.PyCallable;
import dev.warmpath.prompt.template.internal.python.PyError;
import dev.warmpath.prompt.template.internal.python.PyIndexable;
import dev.warmpath.prompt.template.internal.python.Rendering;
import dev.warmpath.prompt.template.internal.python.Repr;
import dev.warmpath.prompt.template.internal.python.Undefined;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A {@code block}. As nothing can be extended, it always runs where it stands.
 *
 * @param name its name
 * @param frameSize variables of the function
 * @param selfSlot the variable {@code self} where the body uses it, or -1
 * @param superSlot the variable {@code super} where the body uses it, or -1
 * @param entry its scope
 * @param body what it writes
 */
public record BlockCode(
    String name, int frameSize, int selfSlot, int superSlot, ScopeEntry entry, Body body) {
  void run(Context context, Rendering r) {
    r.enter();
    Frame f = new Frame(frameSize, context, r);
    if (selfSlot >= 0) {
      f.slots[selfSlot] = new Self(context);
    }
    if (superSlot >= 0) {
      f.slots[superSlot] = noParent(name);
    }
    entry.enter(f);
    body.exec(f);
    r.leave();
  }

  private static Undefined noParent(String name) {
    return Undefined.because("there is no parent block called " + Repr.ofString(name) + ".");
  }

  /** A block where it stands. */
  public static final class Place extends Statement {
    private final String name;
    private final boolean required;
    private final boolean scoped;
    private final List<Variable> locals;

    /**
     * A block's place.
     *
     * @param required whether an extending template would have to replace it
     * @param scoped whether it sees the variables around it
     * @param locals these variables
     */
    public Place(String name, boolean required, boolean scoped, List<Variable> locals) {
      this.name = name;
      this.required = required;
      this.scoped = scoped;
      this.locals = locals;
    }

    @Override
    public Outcome exec(Frame f) {
      if (required) {
        throw PyError.runtime("Required block " + Repr.ofString(name) + " not found");
      }
      Context context = f.context;
      if (scoped) {
        Map<String, Object> values = new LinkedHashMap<>();
        for (Variable local : locals) {
          Object value = local.raw(f);
          if (value != Missing.MISSING) {
            values.put(local.name(), value);
          }
        }
        context = context.derived(values);
      }
      f.context.block(name).run(context, f.r);
      return Outcome.NORMAL;
    }
  }

  /** The variable {@code self}. */
  record Self(Context context) implements PyIndexable {
    @Override
    public Object item(Rendering r, Object key) {
      return key instanceof String block && context.hasBlock(block)
          ? new Reference(context, block)
          : Missing.MISSING;
    }

    @Override
    public String typeName() {
      return "TemplateReference";
    }

    @Override
    public String qualifiedTypeName() {
      return "jinja2.runtime.TemplateReference";
    }

    @Override
    public void repr(Repr out) {
      out.append("<TemplateReference None>");
    }
  }

  /** A block that can be called once more. */
  record Reference(Context context, String name) implements PyCallable {
    @Override
    public Object call(Rendering r, Args args) {
      int start = r.out().length();
      BlockCode block = context.block(name);
      block.run(context, r);
      String text = r.out().cut(start);
      r.chargeChars(text.length());
      return r.autoescape() ? new Markup(text) : text;
    }

    @Override
    public String typeName() {
      return "BlockReference";
    }

    @Override
    public String qualifiedTypeName() {
      return "jinja2.runtime.BlockReference";
    }

    @Override
    public Object attribute(Rendering r, String attribute) {
      return switch (attribute) {
        case "name" -> name;
        case "super" -> noParent(name);
        default -> Missing.MISSING;
      };
    }
  }
}
