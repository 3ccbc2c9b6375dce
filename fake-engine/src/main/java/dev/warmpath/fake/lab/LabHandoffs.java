package dev.warmpath.fake.lab;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.fake.handoff.HandoffOrder;
import dev.warmpath.fake.handoff.HandoffSettings;
import dev.warmpath.fake.virtual.VirtualHandoffs;
import dev.warmpath.fake.virtual.VirtualTime;
import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.worker.WorkerRole;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;

/**
 * The handoffs of a run. A pair's two requests find each other by what the client minted for the
 * attempt: the id that both name, in their body for SGLang and in a header for vLLM.
 */
final class LabHandoffs {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final VirtualHandoffs conducted;
  private final Map<String, LabHandoff> underWay = new HashMap<>();

  LabHandoffs(VirtualTime time, HandoffOrder order) {
    this.conducted = new VirtualHandoffs(time, HandoffSettings.of(order));
  }

  /** How one of a pair's requests reaches its worker. */
  LabLeg leg(OutboundRequest outbound, LabRequest request) {
    String id = id(outbound);
    LabHandoff handoff =
        underWay.computeIfAbsent(
            id, fresh -> LabHandoff.open(request, conducted, () -> underWay.remove(fresh)));
    return outbound.target().worker().role() == WorkerRole.PREFILL
        ? handoff.source()
        : handoff.destination();
  }

  /** Nobody will fetch what the prefill of a pair holds: it is let go. */
  void release(OutboundRequest touch) {
    LabHandoff handoff = underWay.get(id(touch));
    if (handoff != null) {
      handoff.giveUp();
    }
  }

  /** The id of an attempt. */
  static String id(OutboundRequest outbound) {
    String header = outbound.headers().get("X-Request-Id");
    if (header != null) {
      return header;
    }
    try {
      return JSON.readTree(outbound.body()).path("rid").asText();
    } catch (IOException e) {
      throw new IllegalStateException("a pair's request is no JSON", e);
    }
  }
}
