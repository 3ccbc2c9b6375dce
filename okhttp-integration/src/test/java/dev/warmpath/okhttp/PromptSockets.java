package dev.warmpath.okhttp;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import javax.net.ServerSocketFactory;

/**
 * Sockets that send at once: a server that writes headers and body apart waits 40 ms in between
 * otherwise, for an acknowledgement that the client puts off.
 */
final class PromptSockets extends ServerSocketFactory {
  private static final class Prompt extends ServerSocket {
    Prompt() throws IOException {}

    Prompt(int port, int backlog, InetAddress address) throws IOException {
      super(port, backlog, address);
    }

    @Override
    public Socket accept() throws IOException {
      Socket accepted = super.accept();
      accepted.setTcpNoDelay(true);
      return accepted;
    }
  }

  @Override
  public ServerSocket createServerSocket() throws IOException {
    return new Prompt();
  }

  @Override
  public ServerSocket createServerSocket(int port) throws IOException {
    return createServerSocket(port, 0);
  }

  @Override
  public ServerSocket createServerSocket(int port, int backlog) throws IOException {
    return createServerSocket(port, backlog, null);
  }

  @Override
  public ServerSocket createServerSocket(int port, int backlog, InetAddress address)
      throws IOException {
    return new Prompt(port, backlog, address);
  }
}
