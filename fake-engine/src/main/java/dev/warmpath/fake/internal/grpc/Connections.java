package dev.warmpath.fake.internal.grpc;

import io.grpc.netty.shaded.io.netty.buffer.ByteBuf;
import io.grpc.netty.shaded.io.netty.buffer.Unpooled;
import io.grpc.netty.shaded.io.netty.channel.Channel;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandlerContext;
import io.grpc.netty.shaded.io.netty.channel.ChannelOption;
import io.grpc.netty.shaded.io.netty.channel.ServerChannel;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioServerSocketChannel;
import java.net.SocketAddress;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The open connections of a gRPC server, to do to them what a gRPC server would never do. Methods
 * may be called from any thread and don't block; what they do to a connection that is gone is
 * nothing.
 */
final class Connections {
  private static final byte[] GARBAGE = {
    (byte) 0xff, 0, (byte) 0xde, (byte) 0xad, '\r', '\n', (byte) 0x80, 7, (byte) 0xfe, '\n'
  };

  private final ConcurrentHashMap<SocketAddress, Channel> open = new ConcurrentHashMap<>();

  private volatile @Nullable Listener listener;

  /** A listening socket that shows the connections it accepts. */
  private final class Listener extends NioServerSocketChannel {
    @Override
    protected int doReadMessages(List<Object> accepted) throws Exception {
      int before = accepted.size();
      int count = super.doReadMessages(accepted);
      for (Object each : accepted.subList(before, accepted.size())) {
        Channel channel = (Channel) each;
        SocketAddress client = channel.remoteAddress();
        open.put(client, channel);
        var unused = channel.closeFuture().addListener(closed -> open.remove(client, channel));
      }
      return count;
    }
  }

  /** Makes the listening socket; once. */
  ServerChannel listener() {
    Listener made = new Listener();
    listener = made;
    return made;
  }

  /** Closes the listening socket and waits until it is. */
  void stopListening() {
    Listener made = listener;
    if (made != null) {
      var unused = made.close().awaitUninterruptibly();
    }
  }

  int count() {
    return open.size();
  }

  /** Closes a connection with a TCP reset. */
  void reset(@Nullable SocketAddress client) {
    Channel channel = find(client);
    if (channel != null) {
      reset(channel);
    }
  }

  void resetAll() {
    open.values().forEach(Connections::reset);
  }

  private static void reset(Channel channel) {
    channel
        .eventLoop()
        .execute(
            () -> {
              if (channel.isOpen()) {
                channel.config().setOption(ChannelOption.SO_LINGER, 0);
                closeAtOnce(channel);
              }
            });
  }

  /** Without the farewell that the HTTP/2 handler would say. */
  private static void closeAtOnce(Channel channel) {
    channel.unsafe().close(channel.voidPromise());
  }

  /** Sends GOAWAY, and closes a connection when the streams that it has are done. */
  void goAway(@Nullable SocketAddress client) {
    Channel channel = find(client);
    if (channel != null) {
      var unused = channel.close();
    }
  }

  /** Closes a connection behind what was written. */
  void cut(@Nullable SocketAddress client) {
    closeBehind(client, new byte[0]);
  }

  /** Writes what is no HTTP/2, and closes the connection. */
  void garbage(@Nullable SocketAddress client) {
    closeBehind(client, GARBAGE);
  }

  /** Past the HTTP/2 handler, but between its frames, as they are written by the same thread. */
  private void closeBehind(@Nullable SocketAddress client, byte[] bytes) {
    Channel channel = find(client);
    if (channel == null) {
      return;
    }
    channel
        .eventLoop()
        .execute(
            () -> {
              ChannelHandlerContext first = channel.pipeline().firstContext();
              ByteBuf buffer = Unpooled.wrappedBuffer(bytes);
              if (first == null) {
                buffer.release();
                return;
              }
              var unused = first.writeAndFlush(buffer).addListener(written -> closeAtOnce(channel));
            });
  }

  private @Nullable Channel find(@Nullable SocketAddress client) {
    return client == null ? null : open.get(client);
  }
}
