package dev.warmpath.dispatch;

import dev.warmpath.api.DeadlineExceededException;
import dev.warmpath.api.InvalidRequestException;
import dev.warmpath.api.NoWorkerAvailableException;
import dev.warmpath.api.RequestCancelledException;
import dev.warmpath.api.RouteDecision;
import dev.warmpath.api.RouteDecision.CandidateView;
import dev.warmpath.api.RouteDecision.PromptSummary;
import dev.warmpath.api.RouteOptions;
import dev.warmpath.api.RouterClosedException;
import dev.warmpath.api.RouterListener;
import dev.warmpath.api.RouterListener.DeadLetter;
import dev.warmpath.api.RouterOverloadedException;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.api.RouterTracer;
import dev.warmpath.api.RouterTracer.RequestTrace;
import dev.warmpath.api.Usage;
import dev.warmpath.hash.BlockHashes;
import dev.warmpath.health.Availability;
import dev.warmpath.health.Fleet;
import dev.warmpath.health.FleetView;
import dev.warmpath.health.PredictionCheck;
import dev.warmpath.health.RankState;
import dev.warmpath.index.BlockLocations;
import dev.warmpath.index.BlockLookup;
import dev.warmpath.knowledge.RequestKnowledge;
import dev.warmpath.policy.Candidate;
import dev.warmpath.policy.KnowledgeChoice;
import dev.warmpath.policy.RouteContext;
import dev.warmpath.policy.RouteExplanation;
import dev.warmpath.policy.RoutePlan;
import dev.warmpath.policy.RoutingEnvironment;
import dev.warmpath.policy.RoutingPolicy;
import dev.warmpath.prompt.EngineAdapter;
import dev.warmpath.prompt.EngineAdapters;
import dev.warmpath.prompt.Exactness;
import dev.warmpath.prompt.Prompt;
import dev.warmpath.prompt.PromptReader;
import dev.warmpath.prompt.StageTimers;
import dev.warmpath.prompt.StageTimers.Stage;
import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.transport.PromptTokens;
import dev.warmpath.transport.Timeouts;
import dev.warmpath.worker.CandidateSet;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.ServedModel;
import dev.warmpath.worker.Topology;
import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerId;
import dev.warmpath.worker.WorkerRank;
import dev.warmpath.worker.WorkerRole;
import dev.warmpath.worker.WorkerState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Takes requests in: reads options and prompt, admits, decides, and hands out a {@link Dispatch}
 * for each. Owns what all of them share: admission, gates, retry budget, listeners. Thread safe.
 */
public final class Dispatcher {
  private static final int DEFAULT_BLOCK_TOKENS = 16;

  private final Fleet fleet;
  private final RoutingEnvironment environment;
  private final PrefixFeed feed;
  private final RequestScreen screen;
  private final Listeners listeners;
  private final DeadLetters deadLetters;
  private final LongSupplier ticker;
  private final LongSupplier seeds;
  private final Pauser pauser;
  private final PromptReader prompts;
  private final Admission admission;
  private final WorkerGates gates;
  private final RetryBudget retryBudget;
  private final Set<Dispatch> live = ConcurrentHashMap.newKeySet();
  private final PendingAnswers answers = new PendingAnswers();
  private final AtomicLong requestIds = new AtomicLong();
  private final long ridHigh;
  private final long ridLow;
  private final ReentrantLock idleLock = new ReentrantLock();
  private final Condition idle = idleLock.newCondition();
  private volatile Rules rules;
  private volatile boolean closed;

  /**
   * Creates a dispatcher.
   *
   * @param fleet the workers and their live state
   * @param rules what requests go by, until there are others
   * @param environment what all decisions share
   * @param prompts reads requests
   * @param feed is told what workers come to hold
   * @param screen leaves out workers that can't be sent a request
   * @param listeners hear of every request
   * @param tracer follows each of them, or null for none
   * @param deadLetters keeps what finally failed
   * @param ticker time in nanoseconds, as {@link System#nanoTime} gives it
   * @param seeds chance: one value per decision
   * @param pauser lets time pass between attempts and while admission is awaited
   */
  public Dispatcher(
      Fleet fleet,
      Rules rules,
      RoutingEnvironment environment,
      PromptReader prompts,
      PrefixFeed feed,
      RequestScreen screen,
      List<RouterListener> listeners,
      @Nullable RouterTracer tracer,
      DeadLetters deadLetters,
      LongSupplier ticker,
      LongSupplier seeds,
      Pauser pauser) {
    this.fleet = fleet;
    this.rules = rules;
    this.environment = environment;
    this.prompts = prompts;
    this.feed = feed;
    this.screen = screen;
    this.listeners = new Listeners(listeners, tracer);
    this.deadLetters = deadLetters;
    this.ticker = ticker;
    this.seeds = seeds;
    this.pauser = pauser;
    DispatchSettings settings = rules.settings();
    this.admission = new Admission(this::admissionLimit);
    this.gates = new WorkerGates(settings.breaker());
    this.retryBudget =
        new RetryBudget(settings.retry().budgetRatio(), settings.retry().budgetReserve());
    this.ridHigh = seeds.getAsLong();
    this.ridLow = seeds.getAsLong();
  }

  /** What one request goes by, its profile applied. */
  record Terms(
      RoutingPolicy policy,
      Timeouts timeouts,
      @Nullable Duration deadline,
      int priority,
      DispatchSettings settings) {}

  /** A plan and what it was made from. */
  record Routed(FleetView view, RoutingPolicy policy, RoutePlan plan, int workers) {}

  private int admissionLimit() {
    long ranks = Math.max(1, fleet.view().topology().ranks().size());
    int perRank = rules.settings().admission().maxInFlightPerRank();
    return (int) Math.min(Integer.MAX_VALUE, ranks * perRank);
  }

  /** What requests go by that begin now. */
  public Rules rules() {
    return rules;
  }

  /**
   * Sets what requests go by that begin from now on; those that run, and those that wait, keep what
   * they began with. One caller at a time.
   */
  public void rules(Rules next) {
    rules = next;
    DispatchSettings settings = next.settings();
    retryBudget.change(settings.retry().budgetRatio(), settings.retry().budgetReserve());
    gates.change(settings.breaker());
    admission.admitWaiters();
  }

  /**
   * Takes a request in, waiting for admission if the fleet is saturated.
   *
   * @throws RouterClosedException when the client is closed
   * @throws InvalidRequestException when body or options can't be understood
   * @throws RouterOverloadedException when there is no room to wait, or the wait was too long
   * @throws DeadlineExceededException when the request's own deadline passed while waiting
   * @throws RequestCancelledException when the thread is interrupted while waiting
   */
  public Dispatch begin(RouterRequest request) {
    return begin(request, now(), null, Runnable::run);
  }

  /**
   * As {@link #begin(RouterRequest)}, for a request whose prompt or answer is not the calling
   * thread's to tokenize.
   *
   * @param started when the request came, by the client's ticker
   * @param read the request's prompt, or null to read it here
   * @param lessons where what its answer teaches is learned; one that it refuses is not learned
   */
  public Dispatch begin(
      RouterRequest request, long started, @Nullable Prompt read, Executor lessons) {
    return begin(request, started, read, lessons, null);
  }

  /**
   * As the former, for a request whose knowledge was decided on.
   *
   * @param knowledge what was decided; its request is {@code request}. Null where none is needed
   */
  public Dispatch begin(
      RouterRequest request,
      long started,
      @Nullable Prompt read,
      Executor lessons,
      @Nullable RequestKnowledge knowledge) {
    if (closed) {
      throw new RouterClosedException();
    }
    RequestTrace trace = listeners.trace(request, Duration.ofNanos(now() - started));
    try {
      return admitted(request, started, read, lessons, knowledge, trace);
    } catch (RuntimeException e) {
      listeners.guard(trace, () -> trace.onRefused(e));
      throw e;
    }
  }

  private Dispatch admitted(
      RouterRequest request,
      long started,
      @Nullable Prompt read,
      Executor lessons,
      @Nullable RequestKnowledge knowledge,
      RequestTrace trace) {
    RouteOptions options = OptionsReader.options(request);
    Terms terms = terms(options);
    Prompt prompt = read == null ? read(request) : read;
    retryBudget.deposit();
    long queued = 0;
    if (!admission.tryAdmit()) {
      long began = now();
      awaitAdmission(terms);
      queued = now() - began;
    }
    Dispatch dispatch =
        new Dispatch(
            this,
            requestIds.incrementAndGet(),
            request,
            prompt,
            options,
            terms,
            new Dispatch.Course(started, new RequestClock(queued), trace, listeners.heard(trace)),
            lessons,
            knowledge);
    live.add(dispatch);
    if (closed) {
      dispatch.cancel();
      throw new RouterClosedException();
    }
    dispatch.locate();
    return dispatch;
  }

  /**
   * Asks an index outside of the client where a prompt's blocks are, if there is one, and waits for
   * what it tells no longer than its deadline. Never fails; an interrupt ends the wait and stays
   * pending.
   *
   * @param counted whether the prompt is about to be sent
   * @param left how long the request may take, or null for as long as it likes
   */
  public BlockLocations locate(Prompt prompt, boolean counted, @Nullable Duration left) {
    BlockLookup lookup = environment.lookup();
    if (lookup == null) {
      return BlockLocations.NONE;
    }
    long began = now();
    BlockLookup.Pending pending = lookup.begin(fleet.view().topology(), prompt, counted, left);
    try {
      if (pending.settled().getCount() > 0) {
        boolean unused = pauser.pause(pending.timeout().toNanos(), pending.settled());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return pending.take(now() - began);
  }

  private Terms terms(RouteOptions options) {
    Rules rules = this.rules;
    DispatchSettings settings = rules.settings();
    Profile profile = null;
    String name = options.profile();
    if (name != null) {
      profile = rules.profiles().get(name);
      if (profile == null) {
        throw new InvalidRequestException(
            "unknown profile '" + name + "'; known are " + rules.profiles().keySet(), null);
      }
    }
    RoutingPolicy chosen = rules.policy();
    Timeouts timeouts = settings.timeouts();
    Duration deadline = settings.deadline();
    int priority = options.priority();
    if (profile != null) {
      RoutingPolicy profilePolicy = profile.policy();
      chosen = profilePolicy == null ? chosen : profilePolicy;
      Timeouts profileTimeouts = profile.timeouts();
      timeouts = profileTimeouts == null ? timeouts : profileTimeouts;
      deadline = profile.deadline() == null ? deadline : profile.deadline();
      priority = priority == 0 ? profile.priority() : priority;
    }
    deadline = options.deadline() == null ? deadline : options.deadline();
    return new Terms(chosen, timeouts, deadline, priority, settings);
  }

  private void awaitAdmission(Terms terms) {
    Duration deadline = terms.deadline();
    AdmissionSettings limits = terms.settings().admission();
    Duration maxWait = limits.maxWait();
    boolean deadlineFirst = deadline != null && deadline.compareTo(maxWait) < 0;
    Duration wait = deadline != null && deadlineFirst ? deadline : maxWait;
    CountDownLatch admitted = new CountDownLatch(1);
    Admission.Waiter waiter =
        admission.enqueue(terms.priority(), limits.queueSize(), admitted::countDown);
    if (waiter == null) {
      throw new RouterOverloadedException(
          "the admission queue is full (" + limits.queueSize() + " waiting)",
          Duration.ofSeconds(1));
    }
    boolean in = false;
    try {
      in = pauser.pause(wait.toNanos(), admitted);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      if (!waiter.abandon()) {
        admission.release();
      }
      throw new RequestCancelledException("interrupted while waiting for admission");
    }
    if (!in && waiter.abandon()) {
      if (deadlineFirst) {
        throw new DeadlineExceededException(wait, List.of());
      }
      throw new RouterOverloadedException(
          "no room within " + maxWait.toMillis() + " ms", Duration.ofSeconds(1));
    }
  }

  /**
   * Decides and sends nothing.
   *
   * @throws InvalidRequestException when body or options can't be understood
   * @throws NoWorkerAvailableException when nobody can serve the request
   */
  public RouteDecision explain(RouterRequest request) {
    return explain(request, null);
  }

  /**
   * The same, for a request whose knowledge was decided on.
   *
   * @param knowledge what was decided, or null where none is needed
   */
  public RouteDecision explain(RouterRequest request, @Nullable RequestKnowledge knowledge) {
    RouteOptions options = OptionsReader.options(request);
    Terms terms = terms(options);
    Prompt prompt = read(request);
    FleetView view = fleet.view();
    Map<String, String> refusals = new LinkedHashMap<>();
    CandidateSet candidates = candidates(view, request, prompt, refusals);
    BlockLocations located = locate(prompt, false, terms.deadline());
    RouteContext context =
        context(view, candidates, prompt, options, located, now(), true)
            .withKnowledge(choice(knowledge));
    RoutingPolicy chosen = environment.policySwitch().choose(terms.policy(), context);
    RouteExplanation explanation = chosen.explain(context);
    List<String> steps = new ArrayList<>();
    steps.add(
        candidates.size()
            + " of "
            + view.topology().ranks().size()
            + " ranks may serve "
            + what(prompt));
    String inexact = prompt.inexactReason();
    if (inexact != null) {
      steps.add("the prompt is not exact: " + inexact);
    }
    refusals.forEach((worker, reason) -> steps.add(worker + " is left out: " + reason));
    String note = environment.policySwitch().note();
    if (note != null) {
      steps.add(note);
    }
    steps.addAll(located.steps());
    steps.addAll(explanation.steps());
    addSuspects(steps, view, candidates);
    List<CandidateView> views = explanation.candidates();
    return new RouteDecision(
        chosen.name(),
        view.topology().version(),
        summary(prompt),
        views,
        views.isEmpty() ? null : views.get(0),
        steps,
        List.of(),
        null,
        located.info(),
        knowledge == null ? null : knowledge.info());
  }

  private static KnowledgeChoice choice(@Nullable RequestKnowledge knowledge) {
    return knowledge == null ? KnowledgeChoice.NONE : knowledge.choice();
  }

  private static void addSuspects(List<String> steps, FleetView view, CandidateSet candidates) {
    for (int i = 0; i < candidates.size(); i++) {
      RankState state = view.find(candidates.get(i));
      if (state != null) {
        PredictionCheck.Verdict verdict = state.predictions().verdict();
        if (verdict.reason() != null) {
          steps.add(
              "cache hits of "
                  + candidates.get(i)
                  + (verdict.suspect() ? " are suspect: " : ": ")
                  + verdict.reason());
        }
      }
    }
  }

  /**
   * Reads a request's prompt, which is most of the work before a decision: for callers whose thread
   * should not do it. The answer that the prompt goes on from is learned by then.
   *
   * @throws InvalidRequestException when the body can't be understood
   */
  public Prompt read(RouterRequest request) {
    Prompt prompt = prompts.read(request, this::served);
    return answers.settle(prompt) ? prompts.read(request, this::served) : prompt;
  }

  private PromptReader.Served served(@Nullable String model) {
    Topology topology = fleet.view().topology();
    CandidateSet candidates = topology.candidates(model, WorkerRole.REGULAR);
    if (candidates.isEmpty()) {
      candidates = topology.candidates(model, WorkerRole.PREFILL);
    }
    Set<EngineKind> engines = EnumSet.noneOf(EngineKind.class);
    String base = null;
    Worker last = null;
    for (int i = 0; i < candidates.size(); i++) {
      Worker worker = candidates.get(i).worker();
      if (worker != last) {
        last = worker;
        engines.add(worker.engine());
        if (base == null && model != null) {
          base = base(worker, model);
        }
      }
    }
    return new PromptReader.Served(engines, base);
  }

  private static @Nullable String base(Worker worker, String model) {
    for (ServedModel served : worker.models()) {
      if (served.id().equals(model)) {
        return served.parent();
      }
    }
    return null;
  }

  /**
   * What a response tells: by its counts of the rank's cache, at once, and of the prompt's
   * rendering; by its answer of what the rank holds.
   */
  void learn(
      Prompt prompt,
      Candidate candidate,
      PrefixFeed.Ticket ticket,
      @Nullable Usage usage,
      @Nullable String answer,
      Executor lessons) {
    reported(prompt, candidate, ticket, usage);
    EngineKind engine = candidate.target().worker().engine();
    Usage counts = usage != null && prompts.learnsFrom(prompt, engine, usage) ? usage : null;
    if (answer == null && counts == null) {
      return;
    }
    answers.learn(
        prompt,
        answer == null ? 0 : (long) Character.BYTES * answer.length(),
        counts != null,
        () -> {
          if (counts != null) {
            prompts.reported(prompt, engine, counts);
          }
          if (answer != null) {
            ticket.answered(answer);
          }
        },
        lessons);
  }

  /** The prompt tokens that were in the cache, by the client's count; -1 where that is unknown. */
  static int cached(Prompt prompt, @Nullable Usage usage) {
    if (usage == null || !prompt.single()) {
      return -1;
    }
    Integer cached = usage.cachedTokens();
    Integer counted = usage.promptTokens();
    if (cached == null || counted == null || counted <= 0 || counted == prompt.tokens()) {
      return cached == null ? -1 : cached;
    }
    return (int) ((double) cached * prompt.tokens() / counted);
  }

  /**
   * Prompt tokens that a candidate is predicted to hold, weighed by how far its rank's predictions
   * came true, whatever the policy that chose it expects.
   */
  int credited(Candidate candidate) {
    RankState state = fleet.view().find(candidate.target());
    double credit = state == null ? 1 : state.predictions().credit();
    return (int) (credit * candidate.predictedTokens());
  }

  /** What the time to a first token tells of the policy that chose the worker. */
  void measured(RoutingPolicy by, double firstTokenMillis, long now) {
    environment.policySwitch().firstToken(by, firstTokenMillis, now);
  }

  /** What the time to a first token tells of the pace at which prompts are computed. */
  void calibrate(
      Prompt prompt, DispatchLease lease, double firstTokenMillis, @Nullable Usage usage) {
    int cached = cached(prompt, usage);
    if (cached >= 0) {
      double tokens = Math.max(0, prompt.tokens() - cached) + lease.ahead();
      lease.state().pace().observe(tokens, firstTokenMillis);
      environment.prefills().firstToken(tokens, firstTokenMillis);
    }
  }

  private void compare(Prompt prompt, Candidate candidate, @Nullable Usage usage) {
    RankState state = fleet.view().find(candidate.target());
    if (state == null || !prompt.single() || prompt.exactness() == Exactness.OPAQUE) {
      return;
    }
    Integer block = candidate.target().worker().blockSize();
    state
        .predictions()
        .observe(
            new PredictionCheck.Outcome(
                candidate.predictedTokens(),
                prompt.tokens(),
                prompt.exactness() == Exactness.EXACT,
                usage == null ? null : usage.promptTokens(),
                usage == null ? null : usage.cachedTokens(),
                Math.max(DEFAULT_BLOCK_TOKENS, block == null ? 0 : block)));
  }

  /** Whether there is an index outside of the client to ask. */
  boolean looksUp() {
    return environment.lookup() != null;
  }

  /** Makes the plan of one request: one read of the fleet's snapshot. */
  Routed route(
      RouterRequest request,
      Prompt prompt,
      RouteOptions options,
      RoutingPolicy by,
      BlockLocations located,
      @Nullable RequestKnowledge knowledge,
      long now) {
    FleetView view = awaitView(now);
    long begun = timers().begin();
    CandidateSet candidates = candidates(view, request, prompt, new LinkedHashMap<>(0));
    RouteContext context =
        context(view, candidates, prompt, options, located, now, false)
            .withKnowledge(choice(knowledge));
    RoutingPolicy chosen = environment.policySwitch().choose(by, context);
    RoutePlan plan = chosen.plan(context);
    timers().end(Stage.SELECT, begun);
    return new Routed(view, chosen, plan, candidates.workers());
  }

  /** The fleet as it is now; waits for the first worker where there is none yet. */
  public FleetView awaitView(long now) {
    FleetView view = fleet.view();
    if (view.topology().workers().isEmpty()) {
      view = fleet.awaitWorkers(rules.settings().noWorkerWait());
    }
    gates.refresh(view, now);
    return view;
  }

  /** The fleet as it is now. */
  public FleetView view() {
    return fleet.view();
  }

  /** What one decision may read, with chance of its own. */
  public RouteContext context(
      FleetView view,
      CandidateSet candidates,
      Prompt prompt,
      RouteOptions options,
      BlockLocations located,
      long now,
      boolean rehearsal) {
    return new RouteContext(
        view, candidates, prompt, options, environment, now, seeds.getAsLong(), rehearsal, located);
  }

  /**
   * Takes a worker for a part of a request.
   *
   * @param tokens prompt tokens that it has to compute
   * @param teaches the prompt that it comes to hold, or null for none
   * @param force whether neither its breaker nor a wish to be left alone is asked
   * @return null where it may not be sent to
   */
  public @Nullable WorkerClaim claim(
      Candidate candidate, int tokens, @Nullable Prompt teaches, boolean force, long now) {
    WorkerGates.Gate gate = gates.gate(candidate.target().worker());
    CircuitBreaker.Permit permit =
        force ? gate.force(now) : gate.busyForNanos(now) > 0 ? null : gate.tryAcquire(now);
    if (permit == null) {
      return null;
    }
    return new WorkerClaim(
        this,
        candidate,
        new DispatchLease(stateOf(candidate.target()), tokens, true),
        permit,
        teaches == null ? PrefixFeed.Ticket.NONE : feed.dispatched(teaches, candidate.target()));
  }

  private RankState stateOf(WorkerRank target) {
    RankState state = fleet.view().find(target);
    // A worker that left between decision and dispatch: counted on an object of its own that nobody
    // reads.
    return state != null ? state : new RankState(target);
  }

  /** What a worker that ended its part reported of the request. */
  void reported(
      Prompt prompt, Candidate candidate, PrefixFeed.Ticket ticket, @Nullable Usage usage) {
    compare(prompt, candidate, usage);
    ticket.reported(cached(prompt, usage));
  }

  /** A request's options, its headers read. */
  public RouteOptions options(RouterRequest request) {
    return OptionsReader.options(request);
  }

  /**
   * How long a request with such options may take, or null for as long as it likes.
   *
   * @throws InvalidRequestException when they name a profile that isn't there
   */
  public @Nullable Duration deadline(RouteOptions options) {
    return terms(options).deadline();
  }

  /** A new id, as {@link PairDispatch#newId} gives it. */
  String newId() {
    return rid(requestIds.incrementAndGet());
  }

  /** The tokens that go to a worker with its request; null where its engine reads the body. */
  public @Nullable PromptTokens tokens(Worker worker, Prompt prompt) {
    return screen.tokens(worker, prompt);
  }

  /**
   * Tells why a worker can't be sent a request, or null for one that can; null in the place of all
   * that where nobody is to be left out.
   */
  public @Nullable Function<Worker, @Nullable String> refusal(
      RouterRequest request, Prompt prompt) {
    return screen.look(request, prompt);
  }

  /** What decisions tell of a prompt. */
  public PromptSummary summaryOf(Prompt prompt) {
    return summary(prompt);
  }

  /**
   * Who may serve a request.
   *
   * @param refusals receives who of them can't be sent it, and why
   */
  private CandidateSet candidates(
      FleetView view, RouterRequest request, Prompt prompt, Map<String, String> refusals) {
    CandidateSet candidates = view.topology().candidates(prompt.model(), WorkerRole.REGULAR);
    WorkerId fallback = environment.policySwitch().fallback();
    if (fallback != null) {
      CandidateSet only =
          view.topology()
              .candidates(null, WorkerRole.REGULAR) // whatever models it says that it serves
              .where(rank -> rank.worker().id().equals(fallback));
      candidates = only.isEmpty() ? candidates : only;
    }
    Function<Worker, @Nullable String> refusal = screen.look(request, prompt);
    if (refusal != null) {
      candidates = candidates.where(rank -> fits(rank.worker(), refusal, refusals));
    }
    if (candidates.isEmpty()) {
      Map<String, String> reasons = reasons(view, prompt.model());
      reasons.putAll(refusals);
      throw new NoWorkerAvailableException(what(prompt), reasons);
    }
    return candidates;
  }

  private static boolean fits(
      Worker worker, Function<Worker, @Nullable String> refusal, Map<String, String> refusals) {
    String reason = refusal.apply(worker);
    if (reason != null) {
      refusals.put(worker.id().value(), reason);
    }
    return reason == null;
  }

  private static String what(Prompt prompt) {
    return prompt.model() == null ? "the request" : "model '" + prompt.model() + "'";
  }

  private static Map<String, String> reasons(FleetView view, @Nullable String model) {
    Map<String, String> reasons = new LinkedHashMap<>();
    for (Worker worker : view.topology().workers()) {
      String reason;
      if (worker.state() == WorkerState.DRAINING) {
        reason = "draining";
      } else if (worker.role() != WorkerRole.REGULAR) {
        reason =
            worker.role().label()
                + " only: it takes a "
                + (worker.role() == WorkerRole.PREFILL ? "decode" : "prefill")
                + " worker beside it";
      } else if (model != null && worker.serves(model) == Worker.Served.NO) {
        reason = "serves " + worker.models().stream().map(served -> served.id()).toList();
      } else {
        reason = "not eligible";
      }
      reasons.put(worker.id().value(), reason);
    }
    return reasons;
  }

  static PromptSummary summary(Prompt prompt) {
    BlockHashes blocks = prompt.blocks();
    return new PromptSummary(
        prompt.byteLength(),
        prompt.tokens(),
        blocks == null ? 0 : blocks.size(),
        prompt.exactness().label());
  }

  OutboundRequest outbound(
      WorkerRank target,
      RouterRequest request,
      Prompt prompt,
      Timeouts timeouts,
      Map<String, String> traced) {
    EngineAdapter.Adapted adapted =
        EngineAdapters.of(target.worker())
            .adapt(
                target,
                prompt,
                OptionsReader.forwarded(request.headers()),
                request.body(),
                rid(requestIds.incrementAndGet()));
    return new OutboundRequest(
        target,
        request.method(),
        request.path(),
        adapted.headers().replacing(traced),
        adapted.body(),
        prompt.stream(),
        false,
        adapted.rid(),
        timeouts,
        tokens(target.worker(), prompt));
  }

  /**
   * 32 hex digits, unique to this client and attempt: SplitMix64's finaliser is a bijection of the
   * counter.
   */
  private String rid(long counter) {
    long mixed = counter * 0x9e3779b97f4a7c15L + ridLow;
    mixed = (mixed ^ mixed >>> 30) * 0xbf58476d1ce4e5b9L;
    mixed = (mixed ^ mixed >>> 27) * 0x94d049bb133111ebL;
    mixed ^= mixed >>> 31;
    String high = Long.toHexString(ridHigh);
    String low = Long.toHexString(mixed);
    return "0".repeat(16 - high.length()) + high + "0".repeat(16 - low.length()) + low;
  }

  DispatchLease lease(Candidate candidate, Prompt prompt) {
    WorkerRank target = candidate.target();
    return new DispatchLease(
        stateOf(target), Math.max(0, prompt.tokens() - candidate.matchedTokens()), prompt.stream());
  }

  /** What is believed of a rank, as decisions show it. */
  String standing(WorkerRank target) {
    RankState state = fleet.view().find(target);
    return state == null ? Availability.DOWN.label() : state.label();
  }

  /** What the failure of an attempt tells of its worker. */
  void failed(WorkerRank target, Failure failure, long now) {
    judged(target, failure.retryAfter(), now);
  }

  /** A worker's breaker may have changed, or it asked to be left alone. */
  void judged(WorkerRank target, @Nullable Duration retryAfter, long now) {
    WorkerGates.Gate gate = gates.gate(target.worker());
    if (retryAfter != null) {
      gate.busyUntil(now + retryAfter.toNanos());
    }
    gates.publish(fleet.view(), target.worker(), gate, now);
  }

  /** Exponential, from half of its value to all of it at random. */
  long backoffNanos(int attemptsMade) {
    RetrySettings retry = rules.settings().retry();
    long wait = retry.baseBackoff().toNanos();
    for (int i = 1; i < attemptsMade && wait < retry.maxBackoff().toNanos(); i++) {
      wait *= 2;
    }
    wait = Math.min(wait, retry.maxBackoff().toNanos());
    return wait - (long) (wait / 2.0 * ((seeds.getAsLong() >>> 11) * 0x1.0p-53));
  }

  void finished(Dispatch dispatch) {
    live.remove(dispatch);
    admission.release();
    if (closed && live.isEmpty()) {
      idleLock.lock();
      try {
        idle.signalAll();
      } finally {
        idleLock.unlock();
      }
    }
  }

  void deadLetter(DeadLetter letter) {
    deadLetters.add(letter);
    listeners.deadLetter(letter);
  }

  /** A rank of an incarnation is gone: what was known of it ends. */
  public void gone(WorkerRank rank) {
    gates.forget(rank.worker());
    feed.gone(rank);
  }

  /** What times the stages of the work on requests. */
  public StageTimers timers() {
    return prompts.timers();
  }

  /** Requests being carried out. */
  public int inFlight() {
    return live.size();
  }

  /** Requests waiting for admission. */
  public int waiting() {
    return admission.waiting();
  }

  /** How learning from answers fares. */
  public AnswerStats answers() {
    return answers.stats();
  }

  /** Retries the budget still allows. */
  public long retriesLeft() {
    return retryBudget.remaining();
  }

  /**
   * The state of a worker's circuit breaker, as a word: {@code closed}, {@code open}, {@code
   * half_open}.
   */
  public String breaker(Worker worker) {
    return gates.gate(worker).breakerState(now()).name().toLowerCase(java.util.Locale.ROOT);
  }

  /** Takes nothing new from now on. What is in flight goes on. */
  public void stopAdmitting() {
    closed = true;
  }

  /**
   * Waits until nothing is in flight, for {@code atMost}; an interrupt ends the wait and stays
   * pending.
   */
  public void awaitIdle(Duration atMost) {
    long left = atMost.toNanos();
    idleLock.lock();
    try {
      while (!live.isEmpty() && left > 0) {
        left = idle.awaitNanos(left);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      idleLock.unlock();
    }
  }

  /** Cancels everything in flight. */
  public void cancelAll() {
    for (Dispatch dispatch : live) {
      dispatch.cancel();
    }
  }

  Pauser pauser() {
    return pauser;
  }

  WorkerGates gates() {
    return gates;
  }

  RetryBudget retryBudget() {
    return retryBudget;
  }

  Listeners listeners() {
    return listeners;
  }

  PrefixFeed feed() {
    return feed;
  }

  /** The time by the client's ticker, in nanoseconds. */
  public long now() {
    return ticker.getAsLong();
  }
}
