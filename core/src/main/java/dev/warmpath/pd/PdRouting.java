package dev.warmpath.pd;

import dev.warmpath.api.AttemptRecord;
import dev.warmpath.api.InvalidRequestException;
import dev.warmpath.api.RequestRejectedException;
import dev.warmpath.api.RouteDecision;
import dev.warmpath.api.RouterException;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.api.RouterResponse;
import dev.warmpath.api.RouterStream;
import dev.warmpath.api.StreamEvent;
import dev.warmpath.api.Usage;
import dev.warmpath.dispatch.Dispatch;
import dev.warmpath.dispatch.Dispatcher;
import dev.warmpath.dispatch.PairDispatch;
import dev.warmpath.dispatch.RequestRunner;
import dev.warmpath.health.FleetView;
import dev.warmpath.knowledge.RequestKnowledge;
import dev.warmpath.pd.PdCall.Mode;
import dev.warmpath.policy.KnowledgeChoice;
import dev.warmpath.prompt.Prompt;
import dev.warmpath.transport.Exchange;
import dev.warmpath.transport.ExchangeResponse;
import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.transport.TransportException;
import dev.warmpath.worker.Scheduler;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Requests that take a prefill and a decode worker, over blocking exchanges: decode on the calling
 * thread, prefill on the executor. Thread safe.
 */
public final class PdRouting implements AutoCloseable {
  private static final int STRIPES = 16;

  private final Dispatcher dispatcher;
  private final RequestRunner runner;
  private final Function<OutboundRequest, Exchange> transports;
  private final Executor executor;
  private final PdSelector selector;
  private final PdShared shared;
  private final @Nullable Scheduler ownScheduler;

  /**
   * Creates the routing of a client's pairs.
   *
   * @param dispatcher where requests come from
   * @param runner makes streams
   * @param transports opens the exchange of an outbound request
   * @param executor carries prefill legs, aborts and touches
   * @param scheduler the client's time, or null for a thread of its own that keeps it
   * @param rules what requests go by, until there are others
   * @param seeds where rooms begin: random unless everything is to be repeatable
   */
  public PdRouting(
      Dispatcher dispatcher,
      RequestRunner runner,
      Function<OutboundRequest, Exchange> transports,
      Executor executor,
      @Nullable Scheduler scheduler,
      PdRules rules,
      LongSupplier seeds) {
    this.dispatcher = dispatcher;
    this.runner = runner;
    this.transports = transports;
    this.executor = executor;
    this.ownScheduler = scheduler == null ? Scheduler.onThread("warmpath-pd") : null;
    this.selector = new PdSelector(dispatcher, rules);
    this.shared =
        PdShared.of(
            dispatcher,
            selector,
            new RoomSource(seeds, STRIPES),
            scheduler == null ? java.util.Objects.requireNonNull(ownScheduler) : scheduler,
            this::call);
  }

  /** Sets what requests go by that begin from now on; those that run keep what they began with. */
  public void rules(PdRules next) {
    shared.rules(next);
  }

  /** Makes a call whose answer matters to nobody. */
  private void call(OutboundRequest request, Consumer<Boolean> done) {
    try {
      executor.execute(
          () -> {
            boolean answered = false;
            try (ExchangeResponse response = transports.apply(request).execute()) {
              byte[] unused = response.readBody();
              answered = response.status() < 300;
            } catch (TransportException | RuntimeException e) {
              answered = false;
            } finally {
              done.accept(answered);
            }
          });
    } catch (RejectedExecutionException e) {
      done.accept(false);
    }
  }

  /** Whether a request is for a pair rather than for one worker. */
  public boolean takes(Dispatch dispatch) {
    FleetView view = dispatcher.view();
    if (view.topology().workers().isEmpty()) {
      view = dispatcher.awaitView(dispatcher.now());
    }
    return view.topology().disaggregated()
        && selector.takes(view, dispatch.prompt(), plainPath(dispatch.path()));
  }

  private static String plainPath(String path) {
    int query = path.indexOf('?');
    return query < 0 ? path : path.substring(0, query);
  }

  /** A request that has begun, and where its attempt shows. */
  private final class Begun {
    final Dispatch dispatch;
    final PdRules rules = selector.rules();
    final PairDispatch request;
    final Original original;
    final PdCall.Ending ending;
    private volatile Supplier<@Nullable PdAttempt> attempt = () -> null;

    Begun(Dispatch dispatch) {
      this.dispatch = dispatch;
      this.request = dispatch.pair(rules.names(), () -> decision(this, attempt.get()));
      this.ending = new WholeRequest(dispatch, request);
      this.original = refusing(() -> original(request, dispatch.path()));
    }

    /** What is refused before anything is sent ends the request all the same. */
    <T> T refusing(Supplier<T> check) {
      try {
        return check.get();
      } catch (RouterException e) {
        request.failed(e);
        throw e;
      }
    }

    PdCall call(Mode mode, Function<OutboundRequest, Exchange> decodes) {
      PdCall call = call(original, ending, mode, decodes);
      attempt = call.conductor()::attempt;
      return call;
    }

    private PdCall call(
        Original part, PdCall.Ending end, Mode mode, Function<OutboundRequest, Exchange> decodes) {
      return new PdCall(
          shared, rules, request, end, part, dispatch.path(), mode, executor, transports, decodes);
    }

    PdGroup group(List<Original> parts, Mode mode) {
      PdGroup group =
          new PdGroup(
              request, ending, executor, parts, (part, end) -> call(part, end, mode, transports));
      attempt = group::attempt;
      return group;
    }
  }

  /**
   * Carries a begun request to its whole response.
   *
   * @throws RouterException when no pair gave one
   */
  public RouterResponse send(Dispatch dispatch) {
    Begun begun = new Begun(dispatch);
    List<Original> parts = PdParts.of(begun.original);
    if (parts != null) {
      PdGroup group = begun.group(parts, Mode.WHOLE);
      PdAnswer answer = group.whole(begun.original.path());
      return new RouterResponse(
          answer.status(), answer.headers(), answer.body(), group.usage(), dispatch.decision());
    }
    PdCall call = begun.call(Mode.WHOLE, transports);
    call.carry();
    PdAnswer answer = call.whole();
    byte[] body = answer.status() < 300 ? call.merged(answer.body()) : answer.body();
    return new RouterResponse(
        answer.status(), answer.headers(), body, call.usage(), dispatch.decision());
  }

  /**
   * Carries a begun request to the first event of its stream.
   *
   * @throws RequestRejectedException when a worker refuses with a client error
   * @throws RouterException when no pair began one
   */
  public RouterStream stream(Dispatch dispatch) {
    Begun begun = new Begun(dispatch);
    List<Original> parts = PdParts.of(begun.original);
    if (parts != null) {
      PdGroup group = begun.group(parts, Mode.STREAM);
      StreamEvent first = group.begin();
      rejected(group.refusal(), dispatch);
      return runner.stream(group, group, first);
    }
    PdCall call = begun.call(Mode.STREAM, transports);
    call.carry();
    rejected(call.refusedAnswer(), dispatch);
    StreamEvent first = call.first();
    return runner.stream(
        call, new PdStreamResponse(call), first == null ? null : call.taken(first));
  }

  private static void rejected(@Nullable PdAnswer refused, Dispatch dispatch) {
    if (refused != null) {
      throw new RequestRejectedException(refused.status(), refused.body(), dispatch.decision());
    }
  }

  /**
   * Carries a begun request to the headers of its decode worker's response, over an exchange that
   * the caller makes; prefill goes over the client's own transports. Of a request whose answer has
   * to be put together (several generations, log-probabilities of the prompt) decode goes over
   * them, too, and the response is read from memory.
   *
   * @param exchanges opens the exchange of a decode leg
   * @param repeatable asked after a failed attempt: whether the caller could send its request again
   * @param carried given what cancels the request while none of {@code exchanges} carries it,
   *     before anything is sent: while prefill is at it, and where the answer is put together
   * @throws RouterException when no pair gave a response
   */
  public RequestRunner.Opened open(
      Dispatch dispatch,
      Function<OutboundRequest, Exchange> exchanges,
      BooleanSupplier repeatable,
      Consumer<Runnable> carried) {
    dispatch.repeatable(repeatable);
    Begun begun = new Begun(dispatch);
    List<Original> parts = PdParts.of(begun.original);
    carried.accept(dispatch::cancel);
    if (parts == null && !begun.original.promptLogprobs()) {
      PdCall call = begun.call(Mode.HEADERS, exchanges);
      call.carry();
      return new RequestRunner.Opened(call, call.response());
    }
    if (parts == null) {
      return read(begun.call(begun.original.stream() ? Mode.STREAM : Mode.WHOLE, transports));
    }
    return read(begun, begun.group(parts, begun.original.stream() ? Mode.STREAM : Mode.WHOLE));
  }

  private static RequestRunner.Opened read(PdCall call) {
    call.carry();
    PdAnswer refused = call.refusedAnswer();
    if (refused != null) {
      return new RequestRunner.Opened(call, PdReadResponse.whole(refused));
    }
    if (!call.streams()) {
      PdAnswer answer = call.whole();
      PdAnswer merged =
          new PdAnswer(
              answer.status(),
              answer.headers().without("Content-Length"),
              call.merged(answer.body()));
      return new RequestRunner.Opened(call, PdReadResponse.whole(merged));
    }
    StreamEvent first = call.first();
    return new RequestRunner.Opened(
        call,
        PdReadResponse.events(
            first == null ? null : call.taken(first), new PdStreamResponse(call)));
  }

  private static RequestRunner.Opened read(Begun begun, PdGroup group) {
    if (!begun.original.stream()) {
      PdAnswer answer = group.whole(begun.original.path());
      return new RequestRunner.Opened(group, PdReadResponse.whole(answer));
    }
    StreamEvent first = group.begin();
    PdAnswer refused = group.refusal();
    return new RequestRunner.Opened(
        group,
        refused == null ? PdReadResponse.events(first, group) : PdReadResponse.whole(refused));
  }

  private static Original original(PairDispatch request, String path) {
    JsonFields body = JsonFields.find(request.request().body());
    if (body == null) {
      throw new InvalidRequestException(
          "a request for a prefill and a decode worker needs a JSON object as its body, held in"
              + " memory",
          null);
    }
    return new Original(
        plainPath(path), request.forwarded(), body, "true".equals(body.text("stream")));
  }

  private List<AttemptRecord> attempts(Begun begun, @Nullable PdAttempt last) {
    List<AttemptRecord> over = begun.request.attempts(); // first: the last one may end meanwhile
    AttemptRecord shown = last == null ? null : last.shown(shared.scheduler().nanoTime());
    if (shown == null || over.contains(shown)) {
      return over;
    }
    List<AttemptRecord> all = new ArrayList<>(over);
    all.add(shown);
    return all;
  }

  private RouteDecision decision(Begun begun, @Nullable PdAttempt at) {
    return new RouteDecision(
        begun.rules.names(),
        dispatcher.view().topology().version(),
        dispatcher.summaryOf(begun.dispatch.prompt()),
        List.of(),
        at == null ? null : begun.request.view(at.pair().decode()),
        List.of(),
        attempts(begun, at),
        at == null ? null : at.info(),
        begun.request.located().info());
  }

  /** A session that is a whole request. */
  private record WholeRequest(Dispatch dispatch, PairDispatch request) implements PdCall.Ending {
    @Override
    public void completed(@Nullable Usage usage) {
      request.completed(usage);
    }

    @Override
    public void refused() {
      request.completed(null);
    }

    @Override
    public void failed(@Nullable RouterException error) {
      request.failed(error);
    }

    @Override
    public void cancel() {
      dispatch.cancel();
    }
  }

  /** Whether a request that has not begun would be for a pair. */
  public boolean takes(RouterRequest request, Prompt prompt) {
    FleetView view = dispatcher.view();
    return view.topology().disaggregated()
        && selector.takes(view, prompt, plainPath(request.path()));
  }

  /**
   * Decides and sends nothing.
   *
   * @throws dev.warmpath.api.NoWorkerAvailableException when no two workers match
   */
  public RouteDecision explain(
      RouterRequest request, Prompt prompt, @Nullable RequestKnowledge knowledge) {
    KnowledgeChoice choice = knowledge == null ? KnowledgeChoice.NONE : knowledge.choice();
    return selector
        .explain(request, prompt, plainPath(request.path()), choice)
        .withKnowledge(knowledge == null ? null : knowledge.info());
  }

  /** What sessions came to. */
  public PdStats stats() {
    return shared.stats();
  }

  /** Ends the timers that are its own. Sessions that last are their dispatches' to cancel. */
  @Override
  public void close() {
    Scheduler own = ownScheduler;
    if (own != null) {
      own.close();
    }
  }
}
