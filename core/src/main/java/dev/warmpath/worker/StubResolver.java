package dev.warmpath.worker;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Asks recursive name servers for A and AAAA records, over UDP and, where an answer does not fit,
 * TCP. The one thing it can do that the JDK can't is to tell how long an answer is good for.
 */
final class StubResolver implements HostResolver {
  private static final int MAX_UDP = 65_535;
  private static final SecureRandom IDS = new SecureRandom();

  private final Config config;

  StubResolver(Config config) {
    this.config = config;
  }

  /**
   * Whom to ask, and how.
   *
   * @param servers the name servers, in order of preference
   * @param search domains to complete short names with
   * @param ndots from how many dots on a name is tried as it is first
   * @param timeout how long to wait for one server
   * @param attempts how often to go through the servers
   */
  record Config(
      List<InetSocketAddress> servers,
      List<String> search,
      int ndots,
      Duration timeout,
      int attempts) {
    private static final int DNS_PORT = 53;

    /** Copies the lists. */
    Config {
      servers = List.copyOf(servers);
      search = List.copyOf(search);
    }

    /**
     * Reads a {@code resolv.conf}: what resolv.conf(5) says of {@code nameserver}, {@code search},
     * {@code domain} and the options {@code ndots}, {@code timeout} (at most 5 s here) and {@code
     * attempts} (at most 3); other lines mean nothing to it.
     */
    static Config parse(List<String> lines) {
      List<InetSocketAddress> servers = new ArrayList<>();
      List<String> search = List.of();
      int ndots = 1;
      int timeoutSeconds = 2;
      int attempts = 2;
      for (String line : lines) {
        String[] words = line.trim().split("\\s+");
        switch (words[0]) {
          case "nameserver" -> {
            InetAddress address = words.length < 2 ? null : literal(words[1]);
            if (address != null) {
              servers.add(new InetSocketAddress(address, DNS_PORT));
            }
          }
          case "search", "domain" -> search = List.of(words).subList(1, words.length);
          case "options" -> {
            for (String option : List.of(words).subList(1, words.length)) {
              ndots = option(option, "ndots:", ndots, 0, 15);
              timeoutSeconds = option(option, "timeout:", timeoutSeconds, 1, 5);
              attempts = option(option, "attempts:", attempts, 1, 3);
            }
          }
          default -> {}
        }
      }
      return new Config(servers, search, ndots, Duration.ofSeconds(timeoutSeconds), attempts);
    }

    private static int option(String word, String key, int old, int min, int max) {
      if (!word.startsWith(key)) {
        return old;
      }
      try {
        return Math.max(min, Math.min(max, Integer.parseInt(word.substring(key.length()))));
      } catch (NumberFormatException e) {
        return old;
      }
    }
  }

  /** The address that an IP literal stands for, or null for anything that would be looked up. */
  static @Nullable InetAddress literal(String text) {
    boolean looksLiteral = text.indexOf(':') >= 0 || text.matches("[0-9]+(\\.[0-9]+){3}");
    if (!looksLiteral) {
      return null;
    }
    try {
      return InetAddress.getByName(text);
    } catch (IOException e) {
      return null;
    }
  }

  @Override
  public Resolution resolve(String host) throws IOException {
    IOException failure = null;
    for (String name : names(host)) {
      try {
        Resolution found = resolveExactly(name);
        if (!found.addresses().isEmpty()) {
          return found;
        }
      } catch (IOException e) {
        failure = e;
      }
    }
    if (failure != null) {
      throw failure;
    }
    return new Resolution(List.of(), null);
  }

  private Set<String> names(String host) {
    if (host.endsWith(".")) {
      return Set.of(host);
    }
    Set<String> names = new LinkedHashSet<>();
    boolean asItIsFirst = host.chars().filter(c -> c == '.').count() >= config.ndots();
    if (asItIsFirst) {
      names.add(host);
    }
    for (String domain : config.search()) {
      names.add(host + "." + domain);
    }
    names.add(host);
    return names;
  }

  private Resolution resolveExactly(String name) throws IOException {
    DnsMessage.Answer four = null;
    IOException failure = null;
    try {
      four = ask(name, DnsMessage.TYPE_A);
    } catch (IOException e) {
      failure = e;
    }
    DnsMessage.Answer six = null;
    try {
      six = ask(name, DnsMessage.TYPE_AAAA);
    } catch (IOException e) {
      failure = e;
    }
    // Some servers fail on the family they have no records of: one that answers with addresses
    // does.
    List<InetAddress> addresses = new ArrayList<>();
    long ttl = Long.MAX_VALUE;
    for (DnsMessage.Answer answer : Arrays.asList(four, six)) {
      if (answer != null && !answer.addresses().isEmpty()) {
        addresses.addAll(answer.addresses());
        ttl = Math.min(ttl, answer.ttlSeconds());
      }
    }
    if (addresses.isEmpty()) {
      if (failure != null) {
        throw failure;
      }
      return new Resolution(List.of(), null);
    }
    return new Resolution(addresses, Duration.ofSeconds(ttl));
  }

  private DnsMessage.Answer ask(String name, int type) throws IOException {
    byte[] query = DnsMessage.query(IDS.nextInt(0x10000), name, type);
    IOException failure = new IOException("no name server is configured");
    for (int attempt = 0; attempt < config.attempts(); attempt++) {
      for (InetSocketAddress server : config.servers()) {
        if (Thread.currentThread().isInterrupted()) {
          throw new InterruptedIOException("interrupted");
        }
        try {
          DnsMessage.Answer answer = DnsMessage.parse(overUdp(server, query), type);
          return answer.truncated() ? DnsMessage.parse(overTcp(server, query), type) : answer;
        } catch (IOException e) {
          failure =
              new IOException("name server " + server.getAddress().getHostAddress() + ": " + e, e);
        }
      }
    }
    throw failure;
  }

  private byte[] overUdp(InetSocketAddress server, byte[] query) throws IOException {
    try (DatagramSocket socket = new DatagramSocket()) {
      // Connected: the kernel lets through only what comes from the server.
      socket.connect(server);
      socket.send(new DatagramPacket(query, query.length));
      long deadline = System.nanoTime() + config.timeout().toNanos();
      byte[] buffer = new byte[MAX_UDP];
      while (true) {
        long left = (deadline - System.nanoTime()) / 1_000_000;
        if (left <= 0) {
          throw new SocketTimeoutException("no answer in " + config.timeout().toSeconds() + " s");
        }
        socket.setSoTimeout((int) left);
        DatagramPacket packet = new DatagramPacket(buffer, buffer.length);
        socket.receive(packet);
        byte[] response = Arrays.copyOf(buffer, packet.getLength());
        if (DnsMessage.answers(query, response)) {
          return response;
        }
      }
    }
  }

  private byte[] overTcp(InetSocketAddress server, byte[] query) throws IOException {
    int millis = (int) config.timeout().toMillis();
    try (Socket socket = new Socket()) {
      socket.connect(server, millis);
      socket.setSoTimeout(millis);
      DataOutputStream out = new DataOutputStream(socket.getOutputStream());
      byte[] framed = new byte[query.length + 2];
      framed[0] = (byte) (query.length >>> 8);
      framed[1] = (byte) query.length;
      System.arraycopy(query, 0, framed, 2, query.length);
      out.write(framed);
      out.flush();
      DataInputStream in = new DataInputStream(socket.getInputStream());
      byte[] response = new byte[in.readUnsignedShort()];
      in.readFully(response);
      if (!DnsMessage.answers(query, response)) {
        throw new IOException("an answer to another question");
      }
      return response;
    }
  }
}
