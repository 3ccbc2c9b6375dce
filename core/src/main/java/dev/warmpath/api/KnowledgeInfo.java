package dev.warmpath.api;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What became of the knowledge that a request needs: who was chosen for it, and what was injected
 * where, and why. Holds no text.
 *
 * @param ids what was wanted
 * @param missing pieces of it whose text was not to be had: the request goes without them
 * @param node the knowledge delivery node that was chosen; null where none is alive that has any of
 *     it
 * @param target the worker or group that was chosen; null where nobody was
 * @param decidedBy the step that chose it, or null where nothing but turns did
 * @param injected {@code text}, {@code kv} or {@code nothing}
 * @param position {@code before_system}, {@code after_system}, {@code before_question} or {@code
 *     before_prompt}; null where nothing was injected
 * @param why why it was injected so, or not at all
 * @param characters how much text was put into the prompt
 * @param transferMillis the estimated time until the KV would be in place; NaN where it isn't known
 * @param recomputeMillis the estimated time to compute it instead; NaN where it isn't known
 * @param kv what became of the call that puts the KV in place: {@code injected}, or why it isn't;
 *     null where there was none so far
 * @param transferredBytes KV that was transferred; 0 where that isn't told
 * @param millis how long all of this took before the request was decided on
 * @param steps what the choice went through, step by step
 */
public record KnowledgeInfo(
    List<String> ids,
    List<String> missing,
    @Nullable String node,
    @Nullable String target,
    @Nullable String decidedBy,
    String injected,
    @Nullable String position,
    String why,
    int characters,
    double transferMillis,
    double recomputeMillis,
    @Nullable String kv,
    long transferredBytes,
    double millis,
    List<String> steps) {

  /** Copies the lists. */
  public KnowledgeInfo {
    ids = List.copyOf(ids);
    missing = List.copyOf(missing);
    steps = List.copyOf(steps);
  }
}
