package dev.warmpath.fake.virtual;

import dev.warmpath.fake.handoff.HandoffStage;
import dev.warmpath.fake.live.RankListener;
import dev.warmpath.fake.scheduler.EngineRequest;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * A request that one rank begins and another one continues.
 *
 * @param source computes the prompt
 * @param prompt the request on the source, usually with one token of output
 * @param sourceListener hears what becomes of it
 * @param destination generates
 * @param answer the request on the destination; its prompt is the source's
 * @param destinationListener hears what becomes of it
 * @param progress hears the stages, in order
 */
public record Handoff(
    VirtualRank source,
    EngineRequest prompt,
    RankListener sourceListener,
    VirtualRank destination,
    EngineRequest answer,
    RankListener destinationListener,
    Consumer<HandoffStage> progress) {
  /** Checks that everything is present. */
  public Handoff {
    Objects.requireNonNull(source, "source");
    Objects.requireNonNull(prompt, "prompt");
    Objects.requireNonNull(sourceListener, "sourceListener");
    Objects.requireNonNull(destination, "destination");
    Objects.requireNonNull(answer, "answer");
    Objects.requireNonNull(destinationListener, "destinationListener");
    Objects.requireNonNull(progress, "progress");
  }
}
