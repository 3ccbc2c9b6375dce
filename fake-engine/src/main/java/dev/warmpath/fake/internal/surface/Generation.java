package dev.warmpath.fake.internal.surface;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.fake.live.RankListener;
import dev.warmpath.fake.scheduler.EngineRequest;
import dev.warmpath.fake.scheduler.FinishReason;
import dev.warmpath.fake.text.PlannedText;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A call that is being computed. All of its sequences run on one rank, whose thread alone touches
 * the progress; whether the client left is told by the server's thread.
 */
public final class Generation {
  /** One sequence of the call: an answer to one of its prompts. */
  public final class Item implements RankListener {
    final int index;
    final int[] prompt;
    final int promptTokens;
    final PlannedText text;
    private final long sequenceId;
    private final String id;
    private int from;
    private int to;
    private int cached = -1;
    private @Nullable String finish;
    private long lastNanos;
    private volatile boolean running;

    private Item(int index, int[] prompt, PlannedText text, long sequenceId, String id) {
      this.index = index;
      this.prompt = prompt;
      this.promptTokens = prompt.length;
      this.text = text;
      this.sequenceId = sequenceId;
      this.id = id;
    }

    /** The id the sequence can be aborted by. */
    String id() {
      return id;
    }

    /**
     * Returns its place among the sequences of the call.
     *
     * @return from 0
     */
    public int index() {
      return index;
    }

    /**
     * Returns its prompt.
     *
     * @return token ids, not to be changed
     */
    public int[] prompt() {
      return prompt;
    }

    /**
     * Returns the answer that it is going to give.
     *
     * @return the plan, of which {@link #generated} tokens have come
     */
    public PlannedText text() {
      return text;
    }

    /**
     * Returns the text that came with the last step.
     *
     * @return maybe empty
     */
    public String delta() {
      return text.text(from, to);
    }

    /**
     * Returns the number of tokens that came with the last step.
     *
     * @return maybe 0
     */
    public int deltaTokens() {
      return to - from;
    }

    /**
     * Returns the text so far.
     *
     * @return maybe empty
     */
    public String all() {
      return text.text(0, to);
    }

    /**
     * Returns the number of tokens so far.
     *
     * @return those of the last step among them
     */
    public int generated() {
      return to;
    }

    /**
     * Returns the prompt tokens that were found in the cache when it was first admitted.
     *
     * @return tokens
     */
    public int cachedTokens() {
      return Math.max(0, cached);
    }

    /**
     * Returns why it ended.
     *
     * @return OpenAI's {@code stop} or {@code length}, or {@code abort}; empty while it goes on
     */
    public String finish() {
      return finish == null ? "" : finish;
    }

    @Override
    public void admitted(int reusedTokens) {
      running = true;
      if (cached < 0) {
        cached = reusedTokens;
      }
    }

    @Override
    public void output(int tokens, @Nullable FinishReason reason) {
      boolean first = to == 0;
      from = to;
      to += tokens;
      measure(tokens, first, reason);
      if (reason != null) {
        finish = finishText(this, reason);
        life.active().remove(id, Generation.this);
        anyAborted |= reason != FinishReason.COMPLETED;
      }
      step(this, first, reason);
    }

    /** An aborted request counts with what it got, and not as one that came to its end. */
    private void measure(int tokens, boolean first, @Nullable FinishReason reason) {
      long now = life.clock().nanoTime();
      if (tokens > 0) {
        if (first) {
          latencies.firstToken.add((now - startNanos) / 1e9, 1);
        } else {
          latencies.interToken.add((now - lastNanos) / 1e9 / tokens, tokens);
        }
        lastNanos = now;
      }
      if (reason == FinishReason.COMPLETED) {
        latencies.endToEnd.add((now - startNanos) / 1e9, 1);
      }
    }
  }

  private final Life life;
  private final RequestLatencies latencies;
  private final Call call;
  private final Admission admission;
  private final Output output;
  private final List<Item> items = new ArrayList<>();
  private final List<EngineRequest> requests = new ArrayList<>();
  private final long startNanos;
  private long firstTokenNanos;
  private long lastTokenNanos;
  private int unfinished;
  private boolean anyAborted;
  private boolean broken;
  private @Nullable JsonNode handOff;
  private volatile boolean abandoned;
  private volatile boolean leaked;
  private volatile boolean abortRequested;

  Generation(Life life, Call call, Admission admission, Output output) {
    this.life = life;
    this.call = call;
    this.admission = admission;
    this.latencies = life.latencies(call.rank());
    this.output = output;
    this.startNanos = life.clock().nanoTime();
    int index = 0;
    for (int[] prompt : call.prompts()) {
      int room = Math.max(0, life.settings().core().maxModelLen() - prompt.length);
      int wanted = call.maxTokens() < 0 ? life.settings().defaultOutputTokens() : call.maxTokens();
      for (int choice = 0; choice < call.n(); choice++) {
        long seed = PlannedText.seed(prompt, call.seed() + choice);
        PlannedText text =
            life.settings()
                .encoder()
                .plan(seed, Math.min(wanted, room), call.stops())
                .stoppedAt(call.stopTokens());
        long sequenceId = life.nextSequenceId();
        items.add(new Item(index, prompt, text, sequenceId, call.itemIds().get(index)));
        requests.add(new EngineRequest(sequenceId, prompt, text.tokens(), call.cacheNamespace()));
        index++;
      }
    }
    this.unfinished = items.size();
  }

  Call call() {
    return call;
  }

  /**
   * Returns the sequences of the call.
   *
   * @return prompts times answers to each
   */
  public List<Item> items() {
    return items;
  }

  EngineSettings settings() {
    return life.settings();
  }

  int completionTokens() {
    return items.stream().mapToInt(Item::generated).sum();
  }

  /** Cached tokens over the prompts; several answers to one prompt count once. */
  int cachedTokens() {
    int sum = 0;
    for (int i = 0; i < items.size(); i += call.n()) {
      sum += items.get(i).cachedTokens();
    }
    return sum;
  }

  double secondsToFirstToken() {
    return (firstTokenNanos - startNanos) / 1e9;
  }

  double secondsPerLaterToken() {
    int later = items.get(0).generated() - 1;
    return later < 1 ? 0 : (lastTokenNanos - firstTokenNanos) / 1e9 / later;
  }

  double secondsInAll() {
    return (life.clock().nanoTime() - startNanos) / 1e9;
  }

  /**
   * Hands the sequences to the scheduler.
   *
   * @param leaks whether a client that leaves while its sequences run leaves them behind
   * @param later runs the cancellation when the engine notices that the client left
   */
  void start(BooleanSupplier leaks, Consumer<Runnable> later) {
    for (Item item : items) {
      life.active().put(item.id, this);
    }
    for (int i = 0; i < items.size(); i++) {
      life.separate(requests.get(i), call.cacheKeys());
      admission.submit(this, requests.get(i), items.get(i));
    }
    requests.clear();
    output.onDisconnect(() -> clientGone(leaks, later));
  }

  private void clientGone(BooleanSupplier leaks, Consumer<Runnable> later) {
    abandoned = true;
    boolean running = items.stream().anyMatch(item -> item.running);
    if (running && !abortRequested && leaks.getAsBoolean()) {
      leaked = true;
      life.leaked.increment();
      items.forEach(item -> life.active().remove(item.id, this));
      return;
    }
    later.accept(this::cancelAll);
  }

  private void cancelAll() {
    items.forEach(item -> admission.cancel(item.sequenceId));
  }

  /** Aborts one sequence, as an admin call asks. */
  void abort(String itemId) {
    abortRequested = true;
    for (Item item : items) {
      if (item.id.equals(itemId)) {
        admission.cancel(item.sequenceId);
      }
    }
  }

  private String finishText(Item item, FinishReason reason) {
    if (reason != FinishReason.COMPLETED) {
      return "abort";
    }
    boolean whole = item.generated() == item.text.length();
    boolean natural =
        call.maxTokens() < 0 && item.text.length() == settings().defaultOutputTokens();
    return whole && (item.text.stopped() || natural) ? "stop" : "length";
  }

  private void step(Item item, boolean first, @Nullable FinishReason reason) {
    lastTokenNanos = life.clock().nanoTime();
    if (firstTokenNanos == 0) {
      firstTokenNanos = lastTokenNanos;
    }
    boolean last = reason != null && --unfinished == 0;
    if (broken) {
      return;
    }
    if (last) {
      count();
    }
    if (!abandoned) {
      output.step(this, item, first);
      if (last) {
        output.end(this);
      }
    }
    if (output.dead() && !last) {
      broken = true;
      cancelAll();
    }
  }

  /** Counts how the call ended, before its client can know. */
  private void count() {
    if (output.faulty() || leaked) {
      return; // counted when it happened
    }
    (anyAborted || abandoned ? life.aborted : life.served).increment();
  }

  /** Adds to a plain answer where its KV can be fetched. */
  void handOff(JsonNode params) {
    handOff = params;
  }

  /**
   * Returns where the KV of the call can be fetched.
   *
   * @return vLLM's {@code kv_transfer_params}, or null if nothing is held for anybody
   */
  public @Nullable JsonNode handOff() {
    return handOff;
  }

  /** Breaks the connection off, whatever was sent before. */
  void reset() {
    broken = true;
    life.failed.increment();
    output.reset();
  }

  /** Ends the only sequence of a call with an error, in a stream that has begun as an event. */
  void fail(Item item, ApiError error, @Nullable String event) {
    life.active().remove(item.id, this);
    unfinished--;
    if (output.faulty() || leaked) {
      return;
    }
    (abandoned ? life.aborted : life.failed).increment();
    if (broken || abandoned) {
      return;
    }
    broken = true;
    output.fail(error, event);
  }
}
