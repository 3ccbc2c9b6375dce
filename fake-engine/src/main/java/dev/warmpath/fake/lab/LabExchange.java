package dev.warmpath.fake.lab;

import dev.warmpath.api.FailurePhase;
import dev.warmpath.api.Headers;
import dev.warmpath.api.StreamEvent;
import dev.warmpath.fake.live.RankListener;
import dev.warmpath.fake.scheduler.FinishReason;
import dev.warmpath.fake.virtual.EventKind;
import dev.warmpath.fake.virtual.VirtualTimer;
import dev.warmpath.transport.Exchange;
import dev.warmpath.transport.ExchangeResponse;
import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.transport.TransportException;
import dev.warmpath.worker.WorkerRole;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * One request to one simulated worker and its streamed answer. The first event comes with the first
 * token, the last one with the last token; those in between would change nothing for a router and
 * are left out.
 *
 * <p>{@link #execute()} and the response are used on a turn of the run, {@link #cancel()} anywhere
 * in the run. The deadlines to the first token and of the whole exchange hold, in virtual time.
 */
final class LabExchange implements Exchange, ExchangeResponse, RankListener {
  private static final byte[] TOO_LONG =
      "{\"error\":{\"message\":\"the prompt is longer than the KV cache\",\"code\":400}}"
          .getBytes(StandardCharsets.UTF_8);

  private final LabNetwork network;
  private final OutboundRequest outbound;
  private final LabRequest request;
  private final long engineId;
  private @Nullable LabLeg leg;
  private Turns.@Nullable Turn reader;
  private @Nullable LabRank rank;
  private boolean sent;
  private boolean cancelled;
  private int freshTokens;
  private int reusedTokens = -1;
  private int tokens;
  private boolean firstTokenSeen;
  private boolean firstTokenHere;
  private @Nullable FinishReason finish;
  private boolean endHere;
  private boolean firstRead;
  private boolean lastRead;
  private @Nullable VirtualTimer deadline;
  private TransportException.@Nullable Kind expired;

  LabExchange(LabNetwork network, OutboundRequest outbound) {
    this.network = network;
    this.outbound = outbound;
    this.request = network.request(outbound.headers().get(LabNetwork.REQUEST_HEADER));
    this.engineId = network.nextEngineRequest();
  }

  @Override
  public ExchangeResponse execute() throws TransportException {
    failIfOver(FailurePhase.CONNECT);
    LabWorker worker = network.worker(outbound.target().worker().id().value());
    if (worker == null || !worker.up()) {
      throw failure(TransportException.Kind.CONNECT, FailurePhase.CONNECT);
    }
    LabRank target = worker.rank(outbound.target().rank().orElse(0));
    rank = target;
    LabLeg by = network.leg(outbound, request, worker.role());
    leg = by;
    if (network.watched()) {
      boolean computes = worker.role() != WorkerRole.DECODE;
      pending(target, computes ? request.promptTokens() - target.cachedTokens(request) : 0);
    }
    at(
        network.roundTripMs() / 2,
        () -> {
          if (!cancelled && worker.up()) {
            sent = true;
            by.begin(target, engineId, this);
          } else if (!cancelled) {
            lost();
          }
        });
    VirtualTimer first =
        expiry(outbound.timeouts().firstToken(), TransportException.Kind.FIRST_TOKEN_TIMEOUT);
    deadline = expiry(outbound.timeouts().total(), TransportException.Kind.DEADLINE);
    while (!endHere && !(firstTokenHere && outbound.stream())) {
      waitForNews(FailurePhase.AWAIT_HEADERS);
    }
    if (first != null) {
      first.cancel();
    }
    return this;
  }

  private void pending(LabRank target, int fresh) {
    freshTokens = fresh;
    target.pending(fresh);
    target.underWay().add(this);
  }

  /** KV tokens that it takes at most, cached ones included. */
  int heldTokens() {
    return request.promptTokens() + request.outputTokens();
  }

  /** Tokens still to be generated. */
  int tokensToCome() {
    return request.outputTokens() - tokens;
  }

  private void gone() {
    settled();
    LabRank target = rank;
    if (target != null) {
      target.underWay().remove(this);
    }
  }

  /** The prompt is computed, or given up. */
  private void settled() {
    LabRank target = rank;
    if (target != null) {
      target.pending(-freshTokens);
      freshTokens = 0;
    }
  }

  private @Nullable VirtualTimer expiry(@Nullable Duration after, TransportException.Kind kind) {
    return after == null
        ? null
        : at(
            after.toNanos() / 1e6,
            () -> {
              if (!endHere && (!firstTokenHere || kind == TransportException.Kind.DEADLINE)) {
                expired = kind;
                abort();
                wake();
              }
            });
  }

  private VirtualTimer at(double afterMs, Runnable action) {
    return network.time().schedule(network.time().nowMs() + afterMs, EventKind.ARRIVAL, action);
  }

  private void waitForNews(FailurePhase phase) throws TransportException {
    Turns.Turn turn = network.turns().current();
    reader = turn;
    network.turns().park(turn);
    failIfOver(phase);
  }

  private void failIfOver(FailurePhase phase) throws TransportException {
    if (cancelled) {
      throw failure(TransportException.Kind.CANCELLED, phase);
    }
    TransportException.Kind kind = expired;
    if (kind != null) {
      throw failure(kind, phase);
    }
  }

  private static TransportException failure(TransportException.Kind kind, FailurePhase phase) {
    return new TransportException(kind, phase, 0, "in the lab", null);
  }

  /** The worker died; nobody else ends a request that its client has not given up. */
  private void lost() {
    gone();
    at(
        network.roundTripMs() / 2,
        () -> {
          if (!endHere) {
            expired = TransportException.Kind.RESET;
            forgetDeadline();
            wake();
          }
        });
  }

  private void wake() {
    Turns.Turn turn = reader;
    if (turn != null) {
      reader = null;
      at(0, () -> network.turns().resume(turn));
    }
  }

  /** A deadline outlives most requests by far, and would hold on to them. */
  private void forgetDeadline() {
    VirtualTimer timer = deadline;
    if (timer != null) {
      boolean unused = timer.cancel();
    }
  }

  private void abort() {
    forgetDeadline();
    gone();
    LabRank target = rank;
    LabLeg by = leg;
    if (target != null && by != null && finish == null) {
      at(
          network.roundTripMs() / 2,
          () -> {
            if (sent) {
              by.cancel(target, engineId);
            }
          });
    }
  }

  @Override
  public void cancel() {
    if (!cancelled && !endHere) {
      cancelled = true;
      abort();
      wake();
    }
  }

  @Override
  public void admitted(int reused) {
    if (reusedTokens < 0) {
      reusedTokens = reused;
    }
  }

  @Override
  public void output(int more, @Nullable FinishReason reason) {
    tokens += more;
    if (tokens > 0 && !firstTokenSeen) {
      firstTokenSeen = true;
      settled();
      at(
          network.roundTripMs() / 2,
          () -> {
            firstTokenHere = true;
            wake();
          });
    }
    if (reason == FinishReason.ABORTED && !cancelled && expired == null) {
      finish = reason;
      lost();
    } else if (reason != null) {
      finish = reason;
      gone();
      at(
          network.roundTripMs() / 2,
          () -> {
            endHere = true;
            forgetDeadline();
            wake();
          });
    }
  }

  @Override
  public int status() {
    return finish == FinishReason.REJECTED ? 400 : 200;
  }

  @Override
  public Headers headers() {
    return Headers.of("Content-Type", "text/event-stream");
  }

  @Override
  public boolean streaming() {
    return status() == 200 && outbound.stream();
  }

  /** A refusal, or a whole answer: that of a prefill says where decode finds its KV. */
  @Override
  public byte[] readBody() {
    lastRead = true;
    if (status() != 200) {
      return TOO_LONG;
    }
    String answer =
        "{\"choices\":[],\"kv_transfer_params\":{\"remote_request_id\":\""
            + LabHandoffs.id(outbound)
            + "\"},"
            + usage()
            + "}";
    return answer.getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public @Nullable StreamEvent nextEvent() throws TransportException {
    failIfOver(FailurePhase.BODY);
    if (!firstRead) {
      firstRead = true;
      return new StreamEvent(null, "{\"choices\":[{\"index\":0,\"text\":\"\"}]}");
    }
    if (lastRead) {
      return null;
    }
    while (!endHere) {
      waitForNews(FailurePhase.BODY);
    }
    lastRead = true;
    return new StreamEvent(null, "{\"choices\":[]," + usage() + "}");
  }

  private String usage() {
    return "\"usage\":{\"prompt_tokens\":"
        + request.promptTokens()
        + ",\"completion_tokens\":"
        + tokens
        + ",\"total_tokens\":"
        + (request.promptTokens() + tokens)
        + ",\"prompt_tokens_details\":{\"cached_tokens\":"
        + Math.max(0, reusedTokens)
        + "}}";
  }

  /** Gives the rest of the answer up. */
  @Override
  public void close() {
    if (!lastRead) {
      cancel();
    }
  }
}
