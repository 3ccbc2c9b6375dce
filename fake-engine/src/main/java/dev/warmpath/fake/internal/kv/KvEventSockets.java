package dev.warmpath.fake.internal.kv;

import dev.warmpath.fake.fault.Fault;
import dev.warmpath.fake.kv.KvEventEndpoint;
import dev.warmpath.fake.kv.KvEventSettings;
import dev.warmpath.fake.live.EngineClock;
import dev.warmpath.fake.live.RankObserver;
import dev.warmpath.hash.HashParams;
import dev.warmpath.worker.EngineKind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;
import org.zeromq.ZMQException;

/** The publishers of all ranks of one engine life. Thread-safe; the life closes it. */
public final class KvEventSockets implements AutoCloseable {
  private static final int TRIES = 50;
  private static final long BETWEEN_TRIES_NANOS = 20_000_000;

  /** Blocks remembered after they left the accelerator, for lower tiers to tell of. */
  private static final int REMEMBERED = 1 << 16;

  private final ZContext context = new ZContext();
  private final List<KvEventSocket> ranks = new ArrayList<>();
  private final RootKeys keys = new RootKeys();
  private final KvEventEndpoint endpoint;

  /**
   * What publishers need to know of their engine.
   *
   * @param kind the engine
   * @param version its version
   * @param host the address to bind to
   * @param blockTokens tokens of a block
   * @param ranks data-parallel ranks
   * @param boots how often it started before
   * @param seed decides what the engine draws
   */
  public record Engine(
      EngineKind kind,
      String version,
      String host,
      int blockTokens,
      int ranks,
      int boots,
      long seed) {
    private boolean numbered() {
      return kind != EngineKind.ATOM;
    }

    /** ATOM's ranks would all bind the same port, and only the first would get it. */
    private int publishing() {
      return kind == EngineKind.ATOM ? 1 : ranks;
    }
  }

  private record Bound(int port, List<ZMQ.Socket> sockets) {}

  /**
   * Binds the sockets and starts the publishers.
   *
   * @param engine the engine
   * @param settings what is published, and where
   * @param before where it was published before a restart, to publish there again, or null
   * @param faults decides what becomes of a rank's next batch; called on publishers' threads
   * @param clock the engine's time
   * @throws UncheckedIOException if a port can't be bound
   * @throws IllegalArgumentException if there is no such hash scheme, or it needs other settings
   */
  public KvEventSockets(
      Engine engine,
      KvEventSettings settings,
      @Nullable KvEventEndpoint before,
      Supplier<@Nullable Fault> faults,
      EngineClock clock) {
    context.setLinger(0);
    try {
      EventLayout layout = EventLayout.of(engine.kind(), engine.version(), settings);
      List<EngineBlocks> blocks = new ArrayList<>();
      for (int rank = 0; rank < engine.publishing(); rank++) {
        blocks.add(blocks(engine, settings, keys::get));
      }
      EventEncoder encoder = new EventEncoder(layout, blocks.get(0).form());
      int port = before == null ? settings.port() : before.port();
      Bound publishers = bind(engine, SocketType.PUB, port, settings.highWaterMark());
      Bound replays = null;
      if (settings.replayPort().isPresent() && engine.numbered()) {
        int replayPort =
            before == null ? settings.replayPort().getAsInt() : before.replayPort().getAsInt();
        replays = bind(engine, SocketType.ROUTER, replayPort, settings.highWaterMark());
      }
      boolean topicFrame = engine.numbered() || !settings.topic().isEmpty();
      KvEventSocket.Framing framing =
          new KvEventSocket.Framing(
              topicFrame ? settings.topic() : null, engine.numbered(), settings.keptBatches());
      for (int rank = 0; rank < engine.publishing(); rank++) {
        ranks.add(
            new KvEventSocket(
                "fake-kv-" + publishers.port() + "-" + rank,
                publishers.sockets().get(rank),
                replays == null ? null : replays.sockets().get(rank),
                new CacheChanges(engine.kind(), blocks.get(rank)),
                encoder,
                framing,
                faults,
                clock));
      }
      endpoint =
          new KvEventEndpoint(
              engine.host(),
              publishers.port(),
              replays == null ? OptionalInt.empty() : OptionalInt.of(replays.port()),
              settings.topic(),
              engine.blockTokens(),
              engine.publishing());
    } catch (RuntimeException e) {
      context.close();
      throw e;
    }
  }

  /** A rank's blocks under the engine's hashes. */
  static EngineBlocks blocks(
      Engine engine, KvEventSettings settings, Function<Long, RequestKeys> keysOfRoot) {
    return new EngineBlocks(
        scheme(engine.kind(), settings),
        params(engine, settings),
        engine.blockTokens(),
        REMEMBERED,
        keysOfRoot);
  }

  private static String scheme(EngineKind kind, KvEventSettings settings) {
    String scheme = settings.scheme();
    if (scheme != null) {
      return scheme;
    }
    return switch (kind) {
      case VLLM -> "vllm-sha256";
      case ATOM -> "atom";
      case SGLANG, UNKNOWN -> "sglang-event";
    };
  }

  /** vLLM without a seed draws one for its XXH schemes and has a fixed one for the others. */
  private static HashParams params(Engine engine, KvEventSettings settings) {
    String seed = settings.hashSeed();
    if (seed == null && scheme(engine.kind(), settings).startsWith("vllm-xxhash")) {
      SplittableRandom random = new SplittableRandom(engine.seed() + engine.boots());
      byte[] drawn = new byte[32];
      random.nextBytes(drawn);
      seed = HexFormat.of().formatHex(drawn);
    }
    HashParams.Builder params = HashParams.builder().blockSize(engine.blockTokens());
    return seed == null ? params.build() : params.seed(seed).build();
  }

  /** Binds one socket for each rank, to consecutive ports. */
  private Bound bind(Engine engine, SocketType type, int port, int highWaterMark) {
    for (int attempt = 1; ; attempt++) {
      List<ZMQ.Socket> sockets = new ArrayList<>();
      int first = port;
      try {
        for (int rank = 0; rank < engine.publishing(); rank++) {
          ZMQ.Socket socket = context.createSocket(type);
          sockets.add(socket);
          socket.setLinger(0);
          socket.setHWM(highWaterMark);
          if (first == 0) {
            first = socket.bindToRandomPort("tcp://" + engine.host());
          } else if (!socket.bind("tcp://" + engine.host() + ":" + (first + rank))) {
            throw new ZMQException(socket.errno());
          }
        }
        return new Bound(first, sockets);
      } catch (ZMQException e) {
        sockets.forEach(ZMQ.Socket::close);
        if (attempt == TRIES) {
          throw new UncheckedIOException(
              "KV events can't be published at port " + first,
              new IOException(String.valueOf(e.getMessage()), e));
        }
        LockSupport.parkNanos(BETWEEN_TRIES_NANOS); // a restart waits for the old sockets to go
      }
    }
  }

  /**
   * Returns where events are published.
   *
   * @return the endpoint with the real ports
   */
  public KvEventEndpoint endpoint() {
    return endpoint;
  }

  /**
   * Returns what publishes a rank's cache changes.
   *
   * @param rank the data-parallel rank
   * @return its observer
   */
  public RankObserver observer(int rank) {
    return rank < ranks.size() ? ranks.get(rank) : RankObserver.NONE;
  }

  /**
   * Lets a listener hear what the first rank publishes.
   *
   * @param listener hears every batch from the next one on
   * @return ends that
   */
  public Runnable listen(KvBatchListener listener) {
    return ranks.get(0).listen(listener);
  }

  /**
   * Tells what a request separates its cache by; to be called before it is submitted.
   *
   * @param firstBlock the scheduler's number of its first block
   * @param of its keys
   */
  public void separate(long firstBlock, RequestKeys of) {
    keys.put(firstBlock, of);
  }

  @Override
  public void close() {
    ranks.forEach(KvEventSocket::close);
    context.close();
  }
}
