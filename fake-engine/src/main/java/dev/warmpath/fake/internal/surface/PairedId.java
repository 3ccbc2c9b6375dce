package dev.warmpath.fake.internal.surface;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A request id that names both sides: {@code ___prefill_addr_A___decode_addr_B_HEX}. The addresses
 * may not contain the markers.
 *
 * @param prefill prefill's address as it stands there
 * @param decode decode's
 */
record PairedId(String prefill, String decode) {
  private static final Pattern FORM =
      Pattern.compile("___prefill_addr_(.*)___decode_addr_(.*)_[0-9a-f]{32}");

  private static final Pattern HOST_PORT = Pattern.compile("(.*):(\\d{1,5})");

  private static final Pattern ZMQ =
      Pattern.compile("host:(.*),handshake:(\\d{1,5}),notify:(\\d{1,5})");

  /** Reads an id; null if it is not of that form. */
  static @Nullable PairedId of(@Nullable String id) {
    Matcher form = FORM.matcher(id == null ? "" : id);
    return form.matches() ? new PairedId(form.group(1), form.group(2)) : null;
  }

  /** Reads {@code host:port}; null if it is something else. */
  static SideChannel.@Nullable Address hostPort(String address) {
    return address(HOST_PORT.matcher(address));
  }

  /** Reads {@code host:IP,handshake:PORT,notify:PORT}; null if it is something else. */
  static SideChannel.@Nullable Address handshake(String address) {
    return address(ZMQ.matcher(address));
  }

  private static SideChannel.@Nullable Address address(Matcher form) {
    return form.matches()
        ? new SideChannel.Address(
            SglangRooms.withoutBrackets(form.group(1)), Integer.parseInt(form.group(2)))
        : null;
  }
}
