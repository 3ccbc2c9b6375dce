package dev.warmpath.okhttp.internal;

import dev.warmpath.worker.TlsFiles;
import dev.warmpath.worker.Worker;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.attribute.FileTime;
import java.security.GeneralSecurityException;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.X509TrustManager;
import okhttp3.HttpUrl;

/**
 * Makes the TLS sockets of each worker by its own files, and of all others by the client's. A
 * socket is made for a host and a port, which tell the worker. Thread safe.
 */
public final class WorkerTls extends SSLSocketFactory {
  private final SSLSocketFactory others;
  private final X509TrustManager trusted;
  private final ConcurrentHashMap<String, TlsFiles> byPlace = new ConcurrentHashMap<>();
  private final ConcurrentHashMap<TlsFiles, Made> made = new ConcurrentHashMap<>();

  private record Made(List<FileTime> modified, SSLSocketFactory sockets) {}

  /**
   * @param others makes the sockets of workers without files of their own
   * @param trusted what is trusted where a worker's files don't say
   */
  public WorkerTls(SSLSocketFactory others, X509TrustManager trusted) {
    this.others = others;
    this.trusted = trusted;
  }

  /** Takes note of a worker that is about to be called. */
  public void know(Worker worker) {
    TlsFiles files = worker.spec().tls();
    if (files == null && byPlace.isEmpty()) {
      return;
    }
    HttpUrl url = HttpUrl.get(worker.id().value());
    String place = place(url.host(), url.port());
    if (files == null) {
      byPlace.remove(place);
    } else if (!files.equals(byPlace.get(place))) {
      byPlace.put(place, files);
    }
  }

  private static String place(String host, int port) {
    return host + ' ' + port;
  }

  private SSLSocketFactory of(String host, int port) throws IOException {
    TlsFiles files = byPlace.get(place(host, port));
    if (files == null) {
      return others;
    }
    try {
      List<FileTime> modified = files.modified();
      Made known = made.get(files);
      if (known == null || !known.modified().equals(modified)) {
        known = new Made(modified, PemFiles.sockets(files, trusted));
        made.put(files, known);
      }
      return known.sockets();
    } catch (GeneralSecurityException e) {
      throw new IOException("the TLS files of " + host + ":" + port + " can't be used", e);
    }
  }

  @Override
  public Socket createSocket(Socket socket, String host, int port, boolean autoClose)
      throws IOException {
    return of(host, port).createSocket(socket, host, port, autoClose);
  }

  @Override
  public Socket createSocket(String host, int port) throws IOException {
    return of(host, port).createSocket(host, port);
  }

  @Override
  public Socket createSocket(String host, int port, InetAddress from, int fromPort)
      throws IOException {
    return of(host, port).createSocket(host, port, from, fromPort);
  }

  @Override
  public Socket createSocket(InetAddress host, int port) throws IOException {
    return of(host.getHostAddress(), port).createSocket(host, port);
  }

  @Override
  public Socket createSocket(InetAddress host, int port, InetAddress from, int fromPort)
      throws IOException {
    return of(host.getHostAddress(), port).createSocket(host, port, from, fromPort);
  }

  @Override
  public Socket createSocket() throws IOException {
    return others.createSocket();
  }

  @Override
  public String[] getDefaultCipherSuites() {
    return others.getDefaultCipherSuites();
  }

  @Override
  public String[] getSupportedCipherSuites() {
    return others.getSupportedCipherSuites();
  }
}
