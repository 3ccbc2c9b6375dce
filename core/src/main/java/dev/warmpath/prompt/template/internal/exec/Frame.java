package dev.warmpath.prompt.template.internal.exec;

import dev.warmpath.prompt.template.internal.python.Missing;
import dev.warmpath.prompt.template.internal.python.Rendering;
import java.time.Clock;
import java.util.Arrays;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The variables of one function call: of the template itself, a block, a macro or a loop that is a
 * function.
 */
public final class Frame {
  final Object[] slots;
  final @Nullable Frame outer;
  final Context context;
  final Rendering r;

  /** A frame without a function around it. */
  Frame(int size, Context context, Rendering r) {
    this(size, null, context, r);
  }

  /** A frame for what needs no variables. */
  static Frame forConstants() {
    return new Frame(
        0, new Context(Map.of(), Map.of()), new Rendering(Clock.systemUTC(), 1 << 24, 1 << 25, 1));
  }

  /** A frame inside of another function's. */
  Frame(int size, Frame outer) {
    this(size, outer, outer.context, outer.r);
  }

  private Frame(int size, @Nullable Frame outer, Context context, Rendering r) {
    this.slots = new Object[size];
    this.outer = outer;
    this.context = context;
    this.r = r;
    Arrays.fill(slots, Missing.MISSING);
  }

  /** The frame so many functions further out. */
  Frame outer(int hops) {
    Frame frame = this;
    for (int i = 0; i < hops; i++) {
      Frame next = frame.outer;
      if (next == null) {
        throw new IllegalStateException("no frame around the outermost");
      }
      frame = next;
    }
    return frame;
  }
}
