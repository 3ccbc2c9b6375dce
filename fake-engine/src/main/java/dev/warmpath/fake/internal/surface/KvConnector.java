package dev.warmpath.fake.internal.surface;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.fake.handoff.TransferProtocol;
import dev.warmpath.fake.internal.http.HttpRequest;
import org.jspecify.annotations.Nullable;

/** How one connector has requests say what is handed over. Without state. */
interface KvConnector {

  /**
   * Reads a request of one sequence.
   *
   * @return how it gets to its rank, or null if it asks for no handoff
   * @throws ApiError if what it says can't be
   */
  @Nullable Admission admission(
      EngineSurface surface, HttpRequest request, JsonNode body, Call call);

  /** The connector of a protocol. */
  static KvConnector of(TransferProtocol protocol) {
    return switch (protocol) {
      case SGLANG -> new SglangRooms();
      case NIXL -> new NixlConnector();
      case NIXL_PUSH -> new NixlPushConnector();
      case MOONCAKE -> new MooncakeConnector();
      case MORIIO -> new MoriioConnector(false);
      case MORIIO_READ -> new MoriioConnector(true);
      case P2P_NCCL -> new P2pNcclConnector();
      case ATOM -> new AtomConnector();
    };
  }
}
