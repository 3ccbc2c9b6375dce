package dev.warmpath.prompt.template.internal.exec;

import dev.warmpath.prompt.template.internal.python.Repr;
import dev.warmpath.prompt.template.internal.python.Undefined;
import java.util.List;

/**
 * What a macro does, or the body of a call block.
 *
 * @param name its name; empty for a call block
 * @param parameters names of the parameters
 * @param parameterSlots their variables
 * @param defaults default of each parameter; a {@link Required} where there is none
 * @param callerSlot the variable {@code caller} where the body uses it and it is no parameter, or
 *     -1
 * @param keywordsSlot the variable {@code kwargs} where the body uses it and it is no parameter, or
 *     -1
 * @param varargsSlot the variable {@code varargs} where the body uses it and it is no parameter, or
 *     -1
 * @param usesCaller whether the body uses {@code caller}
 * @param frameSize variables of the function
 * @param entry its scope
 * @param body what it writes
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record MacroCode(
    String name,
    List<String> parameters,
    int[] parameterSlots,
    List<Expression> defaults,
    int callerSlot,
    int keywordsSlot,
    int varargsSlot,
    boolean usesCaller,
    int frameSize,
    ScopeEntry entry,
    Body body) {

  /** The default of a parameter without one. */
  public static final class Required extends Expression {
    private final String name;

    /** The parameter's name. */
    public Required(String name) {
      this.name = name;
    }

    @Override
    public Object eval(Frame f) {
      return Undefined.because("parameter " + Repr.ofString(name) + " was not provided");
    }
  }
}
