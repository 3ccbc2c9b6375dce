package dev.warmpath.fake.fault;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One way to fail, and when. Immutable.
 *
 * <p>The text form, for command lines:
 *
 * <pre>
 * SPEC  := FAULT (';' FAULT)*
 * FAULT := KIND [':' KEY '=' VALUE (',' KEY '=' VALUE)*]
 * KIND  := refuse | hang | slow | reset | cut | truncate | garbage | error | restart | goaway
 *        | freeze | zombie | drop | gap | duplicate | 5xx | a status from 400 to 599
 * </pre>
 *
 * <p>Keys of every kind: {@code after=N} lets N matching requests pass first; {@code count=N} stops
 * after N times; {@code rate=P} fires with that probability (seeded by the engine's seed); {@code
 * on=} is {@code generate} (the default), {@code health}, {@code load}, {@code admin}, {@code
 * info}, {@code all} of them, or {@code events}: batches of KV events, which drop, gap and
 * duplicate are about, which slow holds back by its delay, and before one of which restart begins
 * the numbers anew. Keys of some kinds: {@code chunks=K} (hang, reset, cut, truncate, garbage,
 * error) answers with K events of a stream first; {@code status=S} (5xx, error); {@code
 * retry-after=SECONDS} (statuses); {@code factor=F} (slow) stretches forward passes; {@code
 * delay=200ms} (slow) waits before the request is looked at. Examples: {@code hang:after=10},
 * {@code 5xx:rate=0.1}, {@code 429:retry-after=1}, {@code reset:chunks=3,count=1;slow:factor=4}.
 */
public final class Fault {

  /** What goes wrong. */
  public enum Kind {
    /** New connections are refused and open ones reset, until the fault is cleared. */
    REFUSE,
    /** The request is read and never answered (or the stream stops); the connection stays open. */
    HANG,
    /** Forward passes take longer, or requests wait before they are looked at. */
    SLOW,
    /** The connection is closed with a TCP reset. */
    RESET,
    /** The connection is closed in the middle of the response, without its terminating bytes. */
    CUT,
    /** A stream ends properly on the HTTP level but without its {@code [DONE]} event. */
    TRUNCATE,
    /** Bytes that are no HTTP. */
    GARBAGE,
    /** An error object inside a stream that began with 200 (a 500 for a plain request). */
    ERROR,
    /** An error status instead of an answer. */
    STATUS,
    /** The engine restarts: connections are reset, the cache is lost. */
    RESTART,
    /**
     * The connection is closed to new requests while those under way go on: HTTP/2's GOAWAY. Over
     * HTTP/1.1 nothing happens.
     */
    GOAWAY,
    /** The scheduler stands still while HTTP goes on, as in a stuck process. */
    FREEZE,
    /**
     * A client that disconnects leaves its running request behind, which goes on to its planned
     * end, and aborting it afterwards does nothing; SGLang v0.5.18 and v0.5.19 do this.
     */
    ZOMBIE,
    /** A batch of KV events gets lost on its way to subscribers; it can be replayed. */
    DROP,
    /** A batch of KV events gets lost for good: its number is not seen again. */
    GAP,
    /** A batch of KV events is published twice. */
    DUPLICATE
  }

  private static final Set<Kind> STATES = EnumSet.of(Kind.FREEZE, Kind.ZOMBIE);
  private static final Set<Scope> MOMENTS = EnumSet.range(Scope.BIND, Scope.DELIVERED);
  private static final Set<Kind> OF_EVENTS = EnumSet.of(Kind.DROP, Kind.GAP, Kind.DUPLICATE);
  private static final Set<Kind> WITH_CHUNKS =
      EnumSet.of(Kind.HANG, Kind.RESET, Kind.CUT, Kind.TRUNCATE, Kind.GARBAGE, Kind.ERROR);

  private final Kind kind;
  private int after;
  private int count = Integer.MAX_VALUE;
  private double rate = 1;
  private int chunks;
  private int status;
  private @Nullable Duration retryAfter;
  private double factor = 1;
  private Duration delay = Duration.ZERO;
  private EnumSet<Scope> scopes;

  private Fault(Kind kind) {
    this.kind = kind;
    this.chunks = EnumSet.of(Kind.CUT, Kind.TRUNCATE, Kind.ERROR).contains(kind) ? 1 : 0;
    this.status = 500;
    this.scopes = EnumSet.of(OF_EVENTS.contains(kind) ? Scope.EVENTS : Scope.GENERATE);
  }

  private Fault copy() {
    Fault copy = new Fault(kind);
    copy.after = after;
    copy.count = count;
    copy.rate = rate;
    copy.chunks = chunks;
    copy.status = status;
    copy.retryAfter = retryAfter;
    copy.factor = factor;
    copy.delay = delay;
    copy.scopes = EnumSet.copyOf(scopes);
    return copy;
  }

  /**
   * Refuses connections.
   *
   * @return the fault
   */
  public static Fault refuse() {
    return new Fault(Kind.REFUSE);
  }

  /**
   * Never answers.
   *
   * @return the fault
   */
  public static Fault hang() {
    return new Fault(Kind.HANG);
  }

  /**
   * Stretches forward passes.
   *
   * @param factor multiplies their duration, more than 0
   * @return the fault
   */
  public static Fault slow(double factor) {
    Fault fault = new Fault(Kind.SLOW);
    if (!(factor > 0)) {
      throw new IllegalArgumentException("factor must be more than 0");
    }
    fault.factor = factor;
    return fault;
  }

  /**
   * Delays requests before they are looked at.
   *
   * @param delay how long
   * @return the fault
   */
  public static Fault delay(Duration delay) {
    Fault fault = new Fault(Kind.SLOW);
    fault.delay = Objects.requireNonNull(delay, "delay");
    return fault;
  }

  /**
   * Resets the connection.
   *
   * @param chunks events of a stream to send first; 0 resets before any response byte
   * @return the fault
   */
  public static Fault reset(int chunks) {
    return new Fault(Kind.RESET).withChunks(chunks);
  }

  /**
   * Closes the connection in mid-response.
   *
   * @param chunks events of a stream to send first
   * @return the fault
   */
  public static Fault cut(int chunks) {
    return new Fault(Kind.CUT).withChunks(chunks);
  }

  /**
   * Ends a stream without {@code [DONE]}.
   *
   * @param chunks events to send first
   * @return the fault
   */
  public static Fault truncate(int chunks) {
    return new Fault(Kind.TRUNCATE).withChunks(chunks);
  }

  /**
   * Sends bytes that are no HTTP.
   *
   * @return the fault
   */
  public static Fault garbage() {
    return new Fault(Kind.GARBAGE);
  }

  /**
   * Puts an error object into a stream.
   *
   * @param chunks events to send first
   * @return the fault
   */
  public static Fault error(int chunks) {
    return new Fault(Kind.ERROR).withChunks(chunks);
  }

  /**
   * Answers with an error status.
   *
   * @param status 400 to 599
   * @return the fault
   */
  public static Fault status(int status) {
    Fault fault = new Fault(Kind.STATUS);
    fault.status = requireStatus(status);
    return fault;
  }

  /**
   * Answers 429 and says when to come back.
   *
   * @param retryAfter whole seconds are sent
   * @return the fault
   */
  public static Fault tooManyRequests(Duration retryAfter) {
    Fault fault = status(429);
    fault.retryAfter = Objects.requireNonNull(retryAfter, "retryAfter");
    return fault;
  }

  /**
   * Restarts the engine when a request arrives.
   *
   * @return the fault
   */
  public static Fault restart() {
    return new Fault(Kind.RESTART).times(1);
  }

  /**
   * Stops the scheduler while HTTP goes on.
   *
   * @return the fault
   */
  public static Fault freeze() {
    return new Fault(Kind.FREEZE);
  }

  /**
   * Leaks running requests whose client disconnects.
   *
   * @return the fault
   */
  public static Fault zombie() {
    return new Fault(Kind.ZOMBIE);
  }

  /**
   * Closes connections to new requests.
   *
   * @return the fault
   */
  public static Fault goAway() {
    return new Fault(Kind.GOAWAY);
  }

  /**
   * Loses batches of KV events on their way.
   *
   * @return the fault
   */
  public static Fault drop() {
    return new Fault(Kind.DROP);
  }

  /**
   * Loses batches of KV events for good.
   *
   * @return the fault
   */
  public static Fault gap() {
    return new Fault(Kind.GAP);
  }

  /**
   * Publishes batches of KV events twice.
   *
   * @return the fault
   */
  public static Fault duplicate() {
    return new Fault(Kind.DUPLICATE);
  }

  private Fault withChunks(int value) {
    if (value < 0) {
      throw new IllegalArgumentException("chunks must be 0 or more");
    }
    chunks = value;
    return this;
  }

  private static int requireStatus(int status) {
    if (status < 400 || status > 599) {
      throw new IllegalArgumentException("status must be 400 to 599, was " + status);
    }
    return status;
  }

  /**
   * Returns a copy that lets requests pass first.
   *
   * @param requests how many
   * @return the copy
   */
  public Fault after(int requests) {
    if (requests < 0) {
      throw new IllegalArgumentException("after must be 0 or more");
    }
    Fault copy = copy();
    copy.after = requests;
    return copy;
  }

  /**
   * Returns a copy that fires a limited number of times.
   *
   * @param times how often at most
   * @return the copy
   */
  public Fault times(int times) {
    if (times < 1) {
      throw new IllegalArgumentException("count must be 1 or more");
    }
    Fault copy = copy();
    copy.count = times;
    return copy;
  }

  /**
   * Returns a copy that fires at random.
   *
   * @param probability 0 to 1
   * @return the copy
   */
  public Fault rate(double probability) {
    if (!(probability >= 0 && probability <= 1)) {
      throw new IllegalArgumentException("rate must be 0 to 1, was " + probability);
    }
    Fault copy = copy();
    copy.rate = probability;
    return copy;
  }

  /**
   * Returns a copy for other endpoints.
   *
   * @param first a scope
   * @param more more scopes
   * @return the copy
   */
  public Fault on(Scope first, Scope... more) {
    Fault copy = copy();
    copy.scopes = EnumSet.of(first, more);
    return copy;
  }

  /**
   * Returns a copy for every endpoint; batches of KV events come to none.
   *
   * @return the copy
   */
  public Fault everywhere() {
    Fault copy = copy();
    copy.scopes = EnumSet.complementOf(EnumSet.range(Scope.EVENTS, Scope.DELIVERED));
    return copy;
  }

  /**
   * Parses a {@code SPEC}, see the class description.
   *
   * @param spec the text
   * @return the faults in order
   * @throws IllegalArgumentException if it does not follow the grammar, with a message that says
   *     where
   */
  public static List<Fault> parse(String spec) {
    List<Fault> faults = new ArrayList<>();
    for (String part : spec.split(";", -1)) {
      if (!part.isBlank()) {
        faults.add(parseOne(part.strip()));
      }
    }
    if (faults.isEmpty()) {
      throw new IllegalArgumentException("empty fault spec");
    }
    return faults;
  }

  private static Fault parseOne(String text) {
    int colon = text.indexOf(':');
    String name = (colon < 0 ? text : text.substring(0, colon)).strip().toLowerCase(Locale.ROOT);
    Fault fault = ofName(name, text);
    if (colon >= 0) {
      for (String pair : text.substring(colon + 1).split(",", -1)) {
        int equals = pair.indexOf('=');
        if (equals < 0) {
          throw bad(text, "'" + pair + "' is not KEY=VALUE");
        }
        try {
          fault = fault.with(pair.substring(0, equals).strip(), pair.substring(equals + 1).strip());
        } catch (IllegalArgumentException e) {
          throw bad(text, String.valueOf(e.getMessage()));
        }
      }
    }
    return fault;
  }

  private static Fault ofName(String name, String text) {
    if (name.equals("5xx")) {
      return new Fault(Kind.STATUS);
    }
    if (name.matches("[45]\\d\\d")) {
      return status(Integer.parseInt(name));
    }
    if (name.equals("restart")) {
      return restart();
    }
    for (Kind kind : Kind.values()) {
      if (kind != Kind.STATUS && kind.name().toLowerCase(Locale.ROOT).equals(name)) {
        return new Fault(kind);
      }
    }
    throw bad(text, "unknown kind '" + name + "'");
  }

  private static IllegalArgumentException bad(String text, String why) {
    return new IllegalArgumentException("fault '" + text + "': " + why);
  }

  private Fault with(String key, String value) {
    return switch (key) {
      case "after" -> after(Integer.parseInt(value));
      case "count" -> times(Integer.parseInt(value));
      case "rate" -> rate(Double.parseDouble(value));
      case "on" ->
          value.equals("all") ? everywhere() : on(Scope.valueOf(value.toUpperCase(Locale.ROOT)));
      default -> withOwn(key, value);
    };
  }

  private Fault withOwn(String key, String value) {
    Fault copy = copy();
    if (key.equals("chunks") && WITH_CHUNKS.contains(kind)) {
      return copy.withChunks(Integer.parseInt(value));
    }
    if (key.equals("status") && (kind == Kind.STATUS || kind == Kind.ERROR)) {
      copy.status = requireStatus(Integer.parseInt(value));
      return copy;
    }
    if (key.equals("retry-after") && kind == Kind.STATUS) {
      copy.retryAfter = Duration.ofSeconds(Long.parseLong(value));
      return copy;
    }
    if (key.equals("factor") && kind == Kind.SLOW) {
      copy.factor = slow(Double.parseDouble(value)).factor;
      return copy;
    }
    if (key.equals("delay") && kind == Kind.SLOW) {
      copy.delay = duration(value);
      return copy;
    }
    throw new IllegalArgumentException("unknown key '" + key + "'");
  }

  private static Duration duration(String value) {
    if (value.endsWith("ms")) {
      return Duration.ofMillis(Long.parseLong(value.substring(0, value.length() - 2)));
    }
    if (value.endsWith("s")) {
      return Duration.ofSeconds(Long.parseLong(value.substring(0, value.length() - 1)));
    }
    throw new IllegalArgumentException("'" + value + "' needs a unit, ms or s");
  }

  /**
   * Returns what goes wrong.
   *
   * @return the kind
   */
  public Kind kind() {
    return kind;
  }

  /**
   * Returns how many stream events are sent first.
   *
   * @return events
   */
  public int chunks() {
    return chunks;
  }

  /**
   * Returns the status to answer with.
   *
   * @return 400 to 599
   */
  public int status() {
    return status;
  }

  /**
   * Returns when the client should come back.
   *
   * @return the value of {@code Retry-After}, or null for none
   */
  public @Nullable Duration retryAfter() {
    return retryAfter;
  }

  /**
   * Returns how much longer passes take.
   *
   * @return a factor
   */
  public double factor() {
    return factor;
  }

  /**
   * Returns how long a request waits first.
   *
   * @return zero for none
   */
  public Duration delay() {
    return delay;
  }

  int after() {
    return after;
  }

  int count() {
    return count;
  }

  double rate() {
    return rate;
  }

  boolean covers(Scope scope) {
    return scopes.contains(scope);
  }

  /** Whether it describes a condition of the engine and not something that happens to a request. */
  boolean isState() {
    return STATES.contains(kind)
        || (kind == Kind.SLOW && delay.isZero())
        || (kind == Kind.REFUSE && after == 0 && rate == 1 && !MOMENTS.containsAll(scopes));
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    text.append(
        kind == Kind.STATUS ? Integer.toString(status) : kind.name().toLowerCase(Locale.ROOT));
    text.append(":after=").append(after).append(",rate=").append(rate);
    if (count != Integer.MAX_VALUE) {
      text.append(",count=").append(count);
    }
    if (WITH_CHUNKS.contains(kind)) {
      text.append(",chunks=").append(chunks);
    }
    return text.toString();
  }
}
