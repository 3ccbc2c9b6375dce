package dev.warmpath.worker;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** DNS messages as RFC 1035 section 4 writes them: an address query, and the answer to it. */
final class DnsMessage {
  /** Record type A. */
  static final int TYPE_A = 1;

  /** Record type AAAA (RFC 3596). */
  static final int TYPE_AAAA = 28;

  private static final int TYPE_CNAME = 5;
  private static final int CLASS_IN = 1;
  private static final int HEADER = 12;
  private static final int RESPONSE = 0x8000;
  private static final int TRUNCATED = 0x0200;
  private static final int RECURSION_DESIRED = 0x0100;
  private static final int RCODE_NXDOMAIN = 3;

  private DnsMessage() {}

  /**
   * An answer.
   *
   * @param addresses the addresses in it
   * @param ttlSeconds the shortest time to live along the way to them, aliases included; -1 without
   *     addresses
   * @param truncated whether it did not fit: the same must be asked over TCP
   */
  record Answer(List<InetAddress> addresses, long ttlSeconds, boolean truncated) {}

  /**
   * Writes a recursive query.
   *
   * @param host a name, with or without its final dot
   * @throws IOException when no DNS name looks like that
   */
  static byte[] query(int id, String host, int type) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    short16(out, id);
    short16(out, RECURSION_DESIRED);
    short16(out, 1);
    short16(out, 0);
    short16(out, 0);
    short16(out, 0);
    String name = host.endsWith(".") ? host.substring(0, host.length() - 1) : host;
    for (String label : name.split("\\.", -1)) {
      byte[] bytes = label.getBytes(StandardCharsets.UTF_8);
      if (bytes.length < 1 || bytes.length > 63) {
        throw new IOException("'" + host + "' is not a DNS name");
      }
      out.write(bytes.length);
      out.writeBytes(bytes);
    }
    out.write(0);
    if (out.size() - HEADER > 255) {
      throw new IOException("'" + host + "' is too long for a DNS name");
    }
    short16(out, type);
    short16(out, CLASS_IN);
    return out.toByteArray();
  }

  private static void short16(ByteArrayOutputStream out, int value) {
    out.write(value >>> 8);
    out.write(value);
  }

  /**
   * Whether {@code response} answers {@code query}: same id, same question (RFC 5452 section 9).
   */
  static boolean answers(byte[] query, byte[] response) {
    return response.length >= query.length
        && response[0] == query[0]
        && response[1] == query[1]
        && (response[2] & 0x80) != 0
        && response[4] == 0
        && response[5] == 1
        && sameQuestion(query, response);
  }

  private static boolean sameQuestion(byte[] query, byte[] response) {
    // Servers may change the letters' case. Length bytes are below 64, so lower-casing spares them.
    return question(query, query.length).equals(question(response, query.length));
  }

  private static String question(byte[] message, int end) {
    return new String(message, HEADER, end - HEADER, StandardCharsets.ISO_8859_1)
        .toLowerCase(Locale.ROOT);
  }

  /**
   * Reads the answer to a query of {@code type}.
   *
   * @param message a response for which {@link #answers} holds
   * @throws IOException when the server failed or the message makes no sense
   */
  static Answer parse(byte[] message, int type) throws IOException {
    try {
      return new Reader(message).read(type);
    } catch (IndexOutOfBoundsException e) {
      throw new IOException("a DNS response that breaks off", e);
    }
  }

  private static final class Reader {
    private final byte[] message;
    private int at = HEADER;

    Reader(byte[] message) {
      this.message = message;
    }

    Answer read(int type) throws IOException {
      int flags = short16(2);
      if ((flags & RESPONSE) == 0) {
        throw new IOException("a DNS query where a response was due");
      }
      if ((flags & TRUNCATED) != 0) {
        return new Answer(List.of(), -1, true);
      }
      int code = flags & 0xf;
      if (code == RCODE_NXDOMAIN) {
        return new Answer(List.of(), -1, false);
      }
      if (code != 0) {
        throw new IOException("the name server answers with code " + code);
      }
      for (int questions = short16(4); questions > 0; questions--) {
        skipName();
        at += 4;
      }
      List<InetAddress> addresses = new ArrayList<>();
      long ttl = Long.MAX_VALUE;
      for (int answers = short16(6); answers > 0; answers--) {
        skipName();
        int recordType = short16(at);
        int recordClass = short16(at + 2);
        long recordTtl = (long) short16(at + 4) << 16 | short16(at + 6);
        int length = short16(at + 8);
        at += 10;
        if (at + length > message.length) {
          throw new IndexOutOfBoundsException(at + length);
        }
        byte[] data = Arrays.copyOfRange(message, at, at + length);
        at += length;
        boolean address = recordType == type && recordClass == CLASS_IN;
        if (address) {
          if (length != (type == TYPE_A ? 4 : 16)) {
            throw new IOException("a DNS address of " + length + " bytes");
          }
          addresses.add(InetAddress.getByAddress(data));
        }
        if (address || recordType == TYPE_CNAME) {
          // RFC 2181 section 8: a value with its top bit set is zero.
          ttl = Math.min(ttl, recordTtl > Integer.MAX_VALUE ? 0 : recordTtl);
        }
      }
      return new Answer(List.copyOf(addresses), addresses.isEmpty() ? -1 : ttl, false);
    }

    private int short16(int offset) {
      return (message[offset] & 0xff) << 8 | (message[offset + 1] & 0xff);
    }

    private void skipName() throws IOException {
      while (true) {
        int length = message[at] & 0xff;
        if (length == 0) {
          at++;
          return;
        }
        if (length >= 0xc0) {
          at += 2; // the rest stands elsewhere in the message; it is not needed
          return;
        }
        if (length > 63) {
          throw new IOException("a DNS label of type " + (length >> 6));
        }
        at += length + 1;
      }
    }
  }
}
