package dev.warmpath.fake.internal.surface;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.fake.scheduler.EngineRequest;
import org.jspecify.annotations.Nullable;

/** The decode side of a handoff: finds the prefill worker and takes its KV. */
final class DestinationAdmission implements Admission {
  private final EngineSurface surface;
  private final SideChannel.Address prefill;
  private final String key;
  private final String subject;
  private final @Nullable String engineId;
  private final @Nullable JsonNode claim;
  private volatile @Nullable Runnable drop;

  private DestinationAdmission(
      EngineSurface surface,
      SideChannel.Address prefill,
      String key,
      String subject,
      @Nullable String engineId,
      @Nullable JsonNode claim) {
    this.surface = surface;
    this.prefill = prefill;
    this.key = key;
    this.subject = subject;
    this.engineId = engineId;
    this.claim = claim;
  }

  /**
   * Meets prefill under a name that the router minted.
   *
   * @param engineId the engine that is expected there, or null
   */
  static DestinationAdmission meeting(
      EngineSurface surface,
      SideChannel.Address prefill,
      String key,
      String subject,
      @Nullable String engineId) {
    return new DestinationAdmission(surface, prefill, key, subject, engineId, null);
  }

  /** Takes what prefill's answer offered. */
  static DestinationAdmission claiming(
      EngineSurface surface,
      SideChannel.Address prefill,
      String key,
      String subject,
      JsonNode params) {
    return new DestinationAdmission(surface, prefill, key, subject, null, params);
  }

  @Override
  public void submit(Generation generation, EngineRequest request, Generation.Item item) {
    HandoffLeg side = new HandoffLeg(surface, request, generation, item);
    HandoffJoin join = new HandoffJoin(key, subject, item.promptTokens, engineId, claim);
    HandoffDesk desk = surface.settings.handoff().bySocket() ? null : SideChannel.deskAt(prefill);
    if (desk == null) {
      RemoteHandoff remote = new RemoteHandoff(side, prefill, join);
      drop = remote::cancel;
      remote.start();
      return;
    }
    try {
      LiveHandoff joined = desk.join(join);
      drop = () -> joined.cancel(side);
      joined.destination(side);
    } catch (HandoffRefused e) {
      side.refuse(e.status(), e.text());
    }
  }

  @Override
  public void cancel(long sequenceId) {
    Runnable dropping = drop;
    if (dropping != null) {
      dropping.run();
    }
  }
}
