package dev.warmpath.worker;

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** A name server on loopback, UDP and TCP on one port. It answers as it is told. */
final class FakeNameServer implements Closeable {
  private record Records(int ttl, List<byte[]> addresses) {}

  private final DatagramSocket udp;
  private final ServerSocket tcp;
  private final List<Thread> threads = new ArrayList<>();
  private final Map<String, Records> records = new ConcurrentHashMap<>();
  private final Set<String> names = ConcurrentHashMap.newKeySet();
  private final Set<String> failing = ConcurrentHashMap.newKeySet();
  private volatile boolean forgery;

  FakeNameServer() throws IOException {
    InetAddress loopback = InetAddress.getLoopbackAddress();
    tcp = new ServerSocket(0, 10, loopback);
    udp = new DatagramSocket(tcp.getLocalPort(), loopback);
    serve("udp", this::serveUdp);
    serve("tcp", this::serveTcp);
  }

  private interface Loop {
    void run() throws IOException;
  }

  private void serve(String name, Loop loop) {
    Thread thread =
        new Thread(
            () -> {
              try {
                while (true) {
                  loop.run();
                }
              } catch (IOException closed) {
                // the end
              }
            },
            "fake-dns-" + name);
    thread.setDaemon(true);
    threads.add(thread);
    thread.start();
  }

  InetSocketAddress address() {
    return new InetSocketAddress(tcp.getInetAddress(), tcp.getLocalPort());
  }

  /** Gives a name addresses of one family; none makes the name exist without any. */
  void put(String name, int ttl, String... addresses) {
    names.add(name);
    List<byte[]> bytes = new ArrayList<>();
    for (String address : addresses) {
      bytes.add(java.util.Objects.requireNonNull(StubResolver.literal(address)).getAddress());
    }
    if (!bytes.isEmpty()) {
      int type = bytes.get(0).length == 4 ? DnsMessage.TYPE_A : DnsMessage.TYPE_AAAA;
      records.put(name + " " + type, new Records(ttl, bytes));
    }
  }

  /** Answers "server failure" to one type of question on one name. */
  void failing(String name, int type) {
    failing.add(name + " " + type);
  }

  /** Sends, over UDP, an answer with another id before each true one. */
  void precedeWithForgery() {
    forgery = true;
  }

  private void serveUdp() throws IOException {
    DatagramPacket packet = new DatagramPacket(new byte[512], 512);
    udp.receive(packet);
    byte[] query = Arrays.copyOf(packet.getData(), packet.getLength());
    byte[] response = respond(query, 512);
    if (forgery) {
      byte[] forged = response.clone();
      forged[0]++;
      udp.send(new DatagramPacket(forged, forged.length, packet.getSocketAddress()));
    }
    udp.send(new DatagramPacket(response, response.length, packet.getSocketAddress()));
  }

  private void serveTcp() throws IOException {
    try (Socket socket = tcp.accept()) {
      DataInputStream in = new DataInputStream(socket.getInputStream());
      byte[] query = new byte[in.readUnsignedShort()];
      in.readFully(query);
      byte[] response = respond(query, 65_535);
      DataOutputStream out = new DataOutputStream(socket.getOutputStream());
      out.writeShort(response.length);
      out.write(response);
      out.flush();
    }
  }

  private byte[] respond(byte[] query, int limit) {
    StringBuilder name = new StringBuilder();
    int at = 12;
    while (query[at] != 0) {
      name.append(name.isEmpty() ? "" : ".");
      for (int i = 1; i <= query[at]; i++) {
        name.append((char) query[at + i]);
      }
      at += query[at] + 1;
    }
    int type = query[at + 2];
    String key = name + " " + type;
    int code = failing.contains(key) ? 2 : names.contains(name.toString()) ? 0 : 3;
    Records found = records.get(key);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(query);
    if (code == 0 && found != null) {
      for (byte[] address : found.addresses()) {
        out.writeBytes(new byte[] {(byte) 0xc0, 12, 0, (byte) type, 0, 1, 0, 0, 0});
        out.write(found.ttl());
        out.write(0);
        out.write(address.length);
        out.writeBytes(address);
      }
    }
    byte[] response = out.toByteArray();
    boolean truncated = response.length > limit;
    if (truncated) {
      response = query.clone();
    }
    response[2] = (byte) (truncated ? 0x83 : 0x81);
    response[3] = (byte) (0x80 | code);
    int count = truncated || found == null || code != 0 ? 0 : found.addresses().size();
    response[6] = (byte) (count >>> 8);
    response[7] = (byte) count;
    return response;
  }

  @Override
  public void close() {
    try {
      udp.close();
      tcp.close();
      for (Thread thread : threads) {
        thread.join();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
