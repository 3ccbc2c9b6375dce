package dev.warmpath.prompt.template.internal.exec;

import dev.warmpath.prompt.template.internal.python.Rendering;
import java.util.Map;

/**
 * A template ready to run. Immutable, and safe for many threads at once.
 *
 * @param frameSize variables of the top level
 * @param selfSlot the variable {@code self} where the top level uses it, or -1
 * @param entry the scope of the top level
 * @param body the top level
 * @param blocks the blocks by name
 * @param loopsOverContent whether it walks through the parts of a message's content
 */
public record Program(
    int frameSize,
    int selfSlot,
    ScopeEntry entry,
    Body body,
    Map<String, BlockCode> blocks,
    boolean loopsOverContent) {
  /** Renders into the rendering's output. */
  public void run(Rendering r, Map<String, ?> variables) {
    Context context = new Context(variables, blocks);
    Frame f = new Frame(frameSize, context, r);
    if (selfSlot >= 0) {
      f.slots[selfSlot] = new BlockCode.Self(context);
    }
    entry.enter(f);
    body.exec(f);
    r.checkOutput();
  }
}
