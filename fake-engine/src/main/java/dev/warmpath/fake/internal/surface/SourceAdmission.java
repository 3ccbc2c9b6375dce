package dev.warmpath.fake.internal.surface;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.fake.scheduler.EngineRequest;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The prefill side of a handoff: the prompt is computed and its KV held for decode. */
final class SourceAdmission implements Admission {

  /** How a call takes up a handoff. */
  private interface Opening {
    void open(
        SourceAdmission admission, HandoffLeg leg, Generation generation, Generation.Item item);
  }

  private final EngineSurface surface;
  private final Opening opening;
  private volatile @Nullable LiveHandoff handoff;
  private volatile @Nullable HandoffLeg leg;

  private SourceAdmission(EngineSurface surface, Opening opening) {
    this.surface = surface;
    this.opening = opening;
  }

  /** Meets decode under a name that the router minted. */
  static SourceAdmission meeting(EngineSurface surface, String key, String subject) {
    return new SourceAdmission(
        surface,
        (admission, leg, generation, item) -> {
          LiveHandoff meeting = surface.life.desk().meet(key, subject, item.promptTokens);
          admission.handoff = meeting;
          meeting.source(leg, () -> {});
        });
  }

  /**
   * Offers its KV under a name.
   *
   * @param params what the answer says of it
   */
  static SourceAdmission offering(
      EngineSurface surface,
      String name,
      String subject,
      Function<Generation.Item, ObjectNode> params) {
    HandoffDesk desk = surface.life.desk();
    return new SourceAdmission(
        surface,
        (admission, leg, generation, item) -> {
          LiveHandoff held = desk.hold(name, subject, item.promptTokens);
          admission.handoff = held;
          held.source(
              leg,
              () -> {
                ObjectNode answer = params.apply(item);
                desk.offer(name, held, answer);
                generation.handOff(answer);
              });
        });
  }

  @Override
  public void submit(Generation generation, EngineRequest request, Generation.Item item) {
    HandoffLeg side = new HandoffLeg(surface, request, generation, item);
    leg = side;
    opening.open(this, side, generation, item);
  }

  @Override
  public void cancel(long sequenceId) {
    LiveHandoff own = handoff;
    if (own != null) {
      own.cancel(Objects.requireNonNull(leg));
    }
  }
}
