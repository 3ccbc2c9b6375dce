package dev.warmpath.fake.internal.surface;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.fake.handoff.HandoffOrder;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Where the workers of this process find each other, in place of bootstrap servers and side
 * channels. Thread-safe.
 */
final class HandoffBoard {
  static final HandoffBoard PROCESS = new HandoffBoard();

  /** A room of the bootstrap server at a host and port. */
  record Room(String host, int port, long number) {}

  /** Blocks that a prefill worker holds, and what it said about them. */
  record Offer(LiveHandoff handoff, JsonNode params) {}

  private final ConcurrentHashMap<Room, LiveHandoff> rooms = new ConcurrentHashMap<>();
  private final ConcurrentHashMap<String, Offer> offers = new ConcurrentHashMap<>();

  /** The handoff of a room: the first side to come opens it. */
  LiveHandoff meet(Room room, int promptTokens) {
    return rooms.computeIfAbsent(
        room,
        key ->
            new LiveHandoff(
                HandoffOrder.DESTINATION_FIRST,
                promptTokens,
                "bootstrap_room=" + key.number(),
                () -> rooms.remove(key)));
  }

  void offer(String name, Offer offer) {
    offers.put(name, offer);
  }

  @Nullable Offer offered(String name) {
    return offers.get(name);
  }

  /** Takes an offer, once; false if somebody else has. */
  boolean take(String name, Offer offer) {
    return offers.remove(name, offer);
  }

  void withdraw(String name) {
    offers.remove(name);
  }
}
