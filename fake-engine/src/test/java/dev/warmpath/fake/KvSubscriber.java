package dev.warmpath.fake;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessageUnpacker;
import org.msgpack.value.Value;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/** What a router does to hear of cache changes: a SUB socket, and a DEALER for what it missed. */
final class KvSubscriber implements AutoCloseable {
  /**
   * A message.
   *
   * @param topic its first frame, null if it came without
   * @param number its sequence number, -1 if it came without
   * @param batch its payload
   */
  record Message(String topic, long number, Value batch) {
    List<Value> events() {
      return batch.asArrayValue().get(1).asArrayValue().list();
    }

    int rank() {
      return batch.asArrayValue().get(2).asIntegerValue().asInt();
    }
  }

  /**
   * JeroMQ 0.6 loses the handshake of some connections that it makes, more of them under load, and
   * makes them anew only when this has passed; it is 30 s by default.
   */
  private static final int HANDSHAKE_MILLIS = 250;

  private final ZContext context = new ZContext();
  private final ZMQ.Socket socket;

  KvSubscriber(String url) {
    this(url, 100_000);
  }

  /**
   * Connects.
   *
   * @param waiting how many messages wait to be taken before others are lost
   */
  KvSubscriber(String url, int waiting) {
    context.setLinger(0);
    socket = context.createSocket(SocketType.SUB);
    socket.setHWM(waiting);
    socket.setReceiveTimeOut(20_000);
    socket.setHandshakeIvl(HANDSHAKE_MILLIS);
    socket.subscribe("");
    socket.connect(url);
  }

  /**
   * Tells whether something arrives soon after an action, and takes it.
   *
   * @param action makes the engine publish exactly one message to each subscriber
   */
  boolean arrives(Runnable action) {
    action.run();
    socket.setReceiveTimeOut(100);
    try {
      for (boolean any = false; ; any = true) {
        if (socket.recv() == null) {
          return any;
        }
        while (socket.hasReceiveMore()) {
          socket.recv();
        }
      }
    } finally {
      socket.setReceiveTimeOut(10_000);
    }
  }

  /** Takes everything until nothing more comes; returns how many messages there were. */
  int drain() {
    socket.setReceiveTimeOut(200);
    try {
      for (int taken = 0; ; taken++) {
        if (socket.recv() == null) {
          return taken;
        }
        while (socket.hasReceiveMore()) {
          socket.recv();
        }
      }
    } finally {
      socket.setReceiveTimeOut(10_000);
    }
  }

  /** The next message; waits for it. */
  Message next() throws IOException {
    List<byte[]> frames = new ArrayList<>();
    do {
      byte[] frame = socket.recv();
      if (frame == null) {
        throw new IOException("no message came");
      }
      frames.add(frame);
    } while (socket.hasReceiveMore());
    byte[] payload = frames.get(frames.size() - 1);
    return new Message(
        frames.size() == 1
            ? null
            : new String(frames.get(0), java.nio.charset.StandardCharsets.UTF_8),
        frames.size() == 3 ? ByteBuffer.wrap(frames.get(1)).getLong() : -1,
        unpack(payload));
  }

  /** Asks for earlier messages, and returns them with the end marker as the last. */
  static List<Message> replay(String url, long from) throws IOException {
    try (ZContext context = new ZContext()) {
      context.setLinger(0);
      ZMQ.Socket dealer = context.createSocket(SocketType.DEALER);
      dealer.setReceiveTimeOut(20_000);
      dealer.setHandshakeIvl(HANDSHAKE_MILLIS);
      dealer.connect(url);
      dealer.sendMore(new byte[0]);
      dealer.send(ByteBuffer.allocate(8).putLong(from).array());
      List<Message> messages = new ArrayList<>();
      while (true) {
        byte[] empty = dealer.recv();
        if (empty == null || empty.length != 0) {
          throw new IOException("no reply came");
        }
        long number = ByteBuffer.wrap(dealer.recv()).getLong();
        byte[] payload = dealer.recv();
        if (dealer.hasReceiveMore()) {
          throw new IOException("more than three frames");
        }
        messages.add(new Message(null, number, payload.length == 0 ? null : unpack(payload)));
        if (number == -1) {
          return messages;
        }
      }
    }
  }

  private static Value unpack(byte[] payload) throws IOException {
    try (MessageUnpacker unpacker = MessagePack.newDefaultUnpacker(payload)) {
      Value value = unpacker.unpackValue();
      if (unpacker.hasNext()) {
        throw new IOException("more than one value");
      }
      return value;
    }
  }

  @Override
  public void close() {
    context.close();
  }
}
