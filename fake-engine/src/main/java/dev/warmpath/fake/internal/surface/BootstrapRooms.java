package dev.warmpath.fake.internal.surface;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.fake.scheduler.EngineRequest;
import dev.warmpath.worker.WorkerRole;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** SGLang's way: both workers get the request, and meet in a room that the router named. */
final class BootstrapRooms implements Admission {
  private final EngineSurface surface;
  private final HandoffBoard.Room room;
  private volatile @Nullable LiveHandoff handoff;
  private volatile @Nullable HandoffLeg leg;

  private BootstrapRooms(EngineSurface surface, HandoffBoard.Room room) {
    this.surface = surface;
    this.room = room;
  }

  /**
   * Reads where to meet.
   *
   * @throws ApiError if the request does not say
   */
  static BootstrapRooms of(EngineSurface surface, JsonNode body) {
    JsonNode number = scalar(surface, body, "bootstrap_room");
    if (!number.isIntegralNumber() || !number.canConvertToLong() || number.asLong() < 0) {
      throw surface.error(400, "Disaggregated request received without bootstrap room id");
    }
    int own = surface.settings.bootstrapPort();
    JsonNode port = scalar(surface, body, "bootstrap_port");
    boolean prefill = surface.settings.role() == WorkerRole.PREFILL;
    return new BootstrapRooms(
        surface,
        new HandoffBoard.Room(
            scalar(surface, body, "bootstrap_host").asText(""),
            prefill ? own : port.asInt(own),
            number.asLong()));
  }

  /** A value, alone or as the only one of a list. */
  static JsonNode scalar(EngineSurface surface, JsonNode body, String field) {
    JsonNode value = body.path(field);
    if (!value.isArray()) {
      return value;
    }
    if (value.size() != 1) {
      throw surface.error(400, field + " must be one value: a fake worker hands over one sequence");
    }
    return value.path(0);
  }

  @Override
  public void submit(Generation generation, EngineRequest request, Generation.Item item) {
    LiveHandoff meeting = HandoffBoard.PROCESS.meet(room, item.promptTokens);
    HandoffLeg side = new HandoffLeg(surface, request, generation, item);
    leg = side;
    handoff = meeting;
    if (surface.settings.role() == WorkerRole.PREFILL) {
      meeting.source(side, null);
    } else {
      meeting.destination(side);
    }
  }

  @Override
  public void cancel(long sequenceId) {
    LiveHandoff own = handoff;
    if (own != null) {
      own.cancel(Objects.requireNonNull(leg));
    }
  }
}
