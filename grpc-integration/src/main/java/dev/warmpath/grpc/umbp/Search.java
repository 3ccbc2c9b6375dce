package dev.warmpath.grpc.umbp;

import dev.warmpath.index.BlockAnswer;
import dev.warmpath.index.BlockAnswer.Failure;
import dev.warmpath.index.BlockAnswer.Kind;
import dev.warmpath.index.BlockQuery;
import dev.warmpath.proto.umbp.MatchExternalKvRequest;
import dev.warmpath.proto.umbp.MatchExternalKvResponse;
import io.grpc.Status;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * One look-up at the master: in chunks that grow, as long as some node holds all that was asked for
 * so far. The first chunk goes out on the caller's thread, the others on the transport's; there is
 * one call at a time.
 */
final class Search {
  private final UmbpClient client;
  private final BlockQuery query;
  private final boolean counted;
  private final long deadlineNanos;
  private final NodeBlocks found;
  private final CompletableFuture<BlockAnswer> answer = new CompletableFuture<>();
  private final AtomicBoolean over = new AtomicBoolean();
  private volatile @Nullable MatchCall call;
  private int asked;
  private int chunk = UmbpClient.FIRST_CHUNK;

  /**
   * Creates a look-up.
   *
   * @param counted whether its blocks are to be counted as used
   * @param deadlineNanos until when it may ask, by the client's ticker
   */
  Search(UmbpClient client, BlockQuery query, boolean counted, long deadlineNanos) {
    this.client = client;
    this.query = query;
    this.counted = counted;
    this.deadlineNanos = deadlineNanos;
    this.found = new NodeBlocks(query.blocks());
  }

  CompletableFuture<BlockAnswer> start() {
    var unused =
        answer.whenComplete(
            (value, error) -> {
              if (answer.isCancelled()) {
                giveUp();
              }
            });
    try {
      askNext();
    } catch (RuntimeException e) {
      finish(new Failure(Kind.ERROR, e.getClass().getSimpleName()));
    }
    return answer;
  }

  private void askNext() {
    long left = deadlineNanos - client.now();
    if (left <= 0) {
      finish(new Failure(Kind.DEADLINE, "after " + asked + " of " + query.blocks() + " blocks"));
      return;
    }
    MatchExternalKvRequest.Builder request =
        MatchExternalKvRequest.newBuilder().setCountAsHit(counted);
    int end = Math.min(query.blocks(), asked + chunk);
    for (int block = asked; block < end; block++) {
      String key = query.key(block);
      if (found.ask(block, key)) {
        request.addHashes(key);
      }
    }
    chunk = Math.min(UmbpClient.LARGEST_CHUNK, UmbpClient.CHUNK_GROWTH * chunk);
    MatchCall made =
        client.match(request.build(), left, (told, status) -> answered(end, told, status));
    call = made;
    if (over.get()) {
      made.cancel();
    }
  }

  private void answered(int end, @Nullable MatchExternalKvResponse told, Status status) {
    if (told == null) {
      client.failed(status, left());
      finish(client.failure(status));
      return;
    }
    client.succeeded();
    try {
      found.add(told);
      asked = end;
      if (end < query.blocks() && found.anyHoldsFirst(end)) {
        askNext();
      } else {
        finish(null);
      }
    } catch (RuntimeException e) {
      finish(new Failure(Kind.ERROR, e.getClass().getSimpleName()));
    }
  }

  private long left() {
    return deadlineNanos - client.now();
  }

  private void giveUp() {
    if (over.compareAndSet(false, true)) {
      client.ended();
      MatchCall running = call;
      if (running != null) {
        running.cancel();
      }
    }
  }

  private void finish(@Nullable Failure failure) {
    if (over.compareAndSet(false, true)) {
      client.ended();
      List<BlockAnswer.Node> nodes = found.nodes();
      answer.complete(new BlockAnswer(nodes, asked, failure));
    }
  }
}
