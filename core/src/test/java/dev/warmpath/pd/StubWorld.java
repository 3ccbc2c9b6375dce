package dev.warmpath.pd;

import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.worker.Scheduler;
import dev.warmpath.worker.WorkerRole;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Engines in memory, on a virtual clock: they meet in rooms, hand KV over, hold what they hold
 * until it is fetched, aborted or its connection dropped, and do what the fault of the moment says.
 * Holding is what matters here, generating is not.
 */
final class StubWorld {
  /** What goes wrong with a leg. */
  enum Fault {
    NONE,
    CONNECT_REFUSED,
    RESET_BEFORE_HEAD,
    STATUS_400,
    STATUS_429,
    STATUS_500,
    STATUS_503,
    BOOTSTRAP_500,
    SLOW_HEAD,
    SSE_ERROR,
    RESET_AFTER_HEAD,
    SILENCE,
    DUPLICATE_END,
    LATE_AFTER_DROP,
    NO_HAND_OFF
  }

  /** How an engine holds and lets go. */
  enum Kind {
    /** Both sides wait in a room, at most 300 s. */
    ROOMS,
    /** Prefill pins what it computed until it is fetched, or a lease of 30 s is over. */
    LEASES,
    /** Prefill pins it until it is fetched. */
    FOR_EVER
  }

  private static final byte[] TEXT = {};
  private static final Duration ENGINE_TIMEOUT = Duration.ofMinutes(5);
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final Duration NOTICED = Duration.ofSeconds(2);

  private final Scheduler scheduler;
  private final LongSupplier chance;
  private final Map<Long, Run[]> rooms = new HashMap<>();
  private final Map<String, Runnable> pinned = new HashMap<>();
  private final Set<Run> held = new LinkedHashSet<>();
  private final Set<String> claimedTwice = new LinkedHashSet<>();
  private final Set<String> claimed = new LinkedHashSet<>();
  private long pins;
  int leasesExpired;
  int touches;

  StubWorld(Scheduler scheduler, LongSupplier chance) {
    this.scheduler = scheduler;
    this.chance = chance;
  }

  private Duration some(int atMostMillis) {
    return Duration.ofMillis(1 + Math.floorMod(chance.getAsLong(), (long) atMostMillis));
  }

  /** Requests that hold KV now, pinned KV included. */
  int held() {
    return held.size() + pinned.size();
  }

  /** Rooms in which somebody waits. */
  int rooms() {
    return rooms.size();
  }

  /** Hand-offs that two decodes were given. */
  Set<String> claimedTwice() {
    return claimedTwice;
  }

  private final class Run {
    final LegCall leg;
    final Kind kind;
    final Fault fault;
    final String body;
    boolean over;
    boolean turnedDown;

    Run(LegCall leg, Kind kind, Fault fault) {
      this.leg = leg;
      this.kind = kind;
      this.fault = fault;
      this.body = new String(leg.outbound().body(), StandardCharsets.UTF_8);
    }

    boolean prefill() {
      return leg.role() == WorkerRole.PREFILL;
    }

    void hold() {
      held.add(this);
    }

    void free() {
      held.remove(this);
      if (!prefill() && fault != Fault.CONNECT_REFUSED && !turnedDown) {
        fetch(body);
      }
      if (kind == Kind.ROOMS) {
        Run[] pair = rooms.get(room(body));
        if (pair != null) {
          pair[prefill() ? 0 : 1] =
              pair[prefill() ? 0 : 1] == this ? null : pair[prefill() ? 0 : 1];
          if (pair[0] == null && pair[1] == null) {
            rooms.remove(room(body));
          }
        }
      }
    }

    void end(LegResult result, byte[] handOff) {
      if (!over) {
        over = true;
        free();
        leg.ended(result, handOff);
        if (fault == Fault.DUPLICATE_END) {
          leg.ended(result, handOff);
        }
      }
    }

    void after(Duration delay, Runnable what) {
      scheduler.schedule(
          delay,
          () -> {
            if (!over) {
              what.run();
            }
          });
    }

    /** The connection was dropped: the client sees that at once, the engine a little later. */
    void hungUp() {
      if (over) {
        return;
      }
      Runnable seen =
          () -> leg.ended(LegResult.broken(LegOutcome.CANCELLED, true, "cancelled"), null);
      if (fault == Fault.LATE_AFTER_DROP) {
        scheduler.schedule(some(200), () -> leg.ended(LegResult.ok(false), null));
      } else {
        seen.run();
      }
      scheduler.schedule(
          NOTICED,
          () -> {
            over = true;
            free();
          });
    }
  }

  /** Takes a leg. */
  void send(LegCall leg, Kind kind, Fault fault) {
    Run run = new Run(leg, kind, fault);
    scheduler.execute(() -> begin(run));
  }

  private void begin(Run run) {
    if (run.fault == Fault.CONNECT_REFUSED) {
      run.end(LegResult.broken(LegOutcome.IO_ERROR, false, "refused"), null);
      return;
    }
    if (!run.leg.sending(run::hungUp)) {
      run.over = true;
      return;
    }
    run.after(some(5), () -> arrive(run));
  }

  private void arrive(Run run) {
    // A refusal that nobody hears any more is the one end of which the client cannot know.
    run.turnedDown =
        run.leg.result() == null
            && (run.fault == Fault.STATUS_400 || run.fault == Fault.STATUS_429);
    if (!run.prefill() && !run.turnedDown) {
      claim(run.body);
    }
    switch (run.fault) {
      case RESET_BEFORE_HEAD -> run.end(LegResult.broken(LegOutcome.IO_ERROR, true, "reset"), null);
      case STATUS_400 -> run.end(LegResult.status(400, PdEvidence.NONE, null), null);
      case STATUS_429 -> run.end(LegResult.status(429, PdEvidence.NONE, some(20)), null);
      case STATUS_500 -> run.end(LegResult.status(500, PdEvidence.NONE, null), null);
      case STATUS_503 -> run.end(LegResult.status(503, PdEvidence.NONE, null), null);
      case BOOTSTRAP_500 -> {
        String text = "Prefill bootstrap failed: timed out in KVPoll.Bootstrapping";
        run.end(LegResult.status(500, PdEvidence.of(text), null), null);
      }
      case SLOW_HEAD -> {
        run.hold();
        run.after(Duration.ofSeconds(3), () -> admitted(run));
      }
      default -> {
        run.hold();
        admitted(run);
      }
    }
  }

  private void admitted(Run run) {
    run.leg.headers();
    switch (run.fault) {
      case SSE_ERROR ->
          run.after(
              some(5),
              () -> run.end(LegResult.broken(LegOutcome.PROTOCOL_ERROR, true, "error"), null));
      case RESET_AFTER_HEAD ->
          run.after(
              some(5), () -> run.end(LegResult.broken(LegOutcome.IO_ERROR, true, "reset"), null));
      case SILENCE -> run.after(ENGINE_TIMEOUT, () -> timedOut(run));
      default -> serve(run);
    }
  }

  private void timedOut(Run run) {
    run.end(LegResult.status(500, PdEvidence.NONE, null), null);
  }

  private void serve(Run run) {
    if (run.kind == Kind.ROOMS) {
      Run[] pair = rooms.computeIfAbsent(room(run.body), unused -> new Run[2]);
      pair[run.prefill() ? 0 : 1] = run;
      run.after(ENGINE_TIMEOUT, () -> timedOut(run));
      Run prefill = pair[0];
      Run decode = pair[1];
      if (prefill != null && decode != null) {
        prefill.after(
            some(20),
            () -> {
              // KV moves only while decode is there to take it.
              if (decode.over) {
                return;
              }
              prefill.end(LegResult.ok(false), null);
              decode.after(some(5), () -> generate(decode));
            });
      }
      return;
    }
    if (run.prefill()) {
      run.after(some(20), () -> handOver(run));
    } else {
      fetch(run.body);
      run.after(some(5), () -> generate(run));
    }
  }

  private void handOver(Run run) {
    if (run.fault == Fault.NO_HAND_OFF) {
      run.end(LegResult.ok(false), null);
      return;
    }
    String pin = "pin-" + ++pins;
    pinned.put(pin, () -> {});
    if (run.kind == Kind.LEASES) {
      scheduler.schedule(
          LEASE,
          () -> {
            if (pinned.remove(pin) != null) {
              leasesExpired++;
            }
          });
    }
    byte[] params = ("{\"remote_request_id\":\"" + pin + "\"}").getBytes(StandardCharsets.UTF_8);
    run.end(LegResult.ok(true), params);
  }

  /** From its arrival on, a decode is who may fetch a hand-off, and who has to let it go. */
  private void claim(String body) {
    String pin = pin(body);
    if (pin != null && !claimed.add(pin)) {
      claimedTwice.add(pin);
    }
  }

  private void fetch(String body) {
    String pin = pin(body);
    if (pin != null) {
      pinned.remove(pin);
    }
  }

  private static String pin(String body) {
    int at = body.indexOf("\"pin-");
    return at < 0 ? null : body.substring(at + 1, body.indexOf('"', at + 1));
  }

  private void generate(Run run) {
    run.leg.payload();
    run.after(
        some(30),
        () -> {
          run.leg.payload();
          run.after(some(30), () -> run.end(LegResult.ok(false), TEXT));
        });
  }

  /** Aborts and touches. */
  void call(OutboundRequest request, Consumer<Boolean> done) {
    String body = new String(request.body(), StandardCharsets.UTF_8);
    scheduler.schedule(
        some(3),
        () -> {
          if (request.path().equals("/abort_request")) {
            abort(request, body);
          } else {
            touches++;
            claim(body);
            fetch(body);
          }
          done.accept(true);
        });
  }

  private void abort(OutboundRequest request, String body) {
    String rid = body.substring(body.indexOf(':') + 2, body.lastIndexOf('"'));
    List<Run> matching = new ArrayList<>();
    for (Run run : held) {
      if (run.leg.outbound().target().equals(request.target())
          && run.body.contains("\"rid\":\"" + rid + '"')) {
        matching.add(run);
      }
    }
    matching.forEach(
        run -> {
          // It ends as an answer of what it had come to, like any other.
          run.end(LegResult.broken(LegOutcome.PROTOCOL_ERROR, true, "aborted"), null);
        });
  }

  static long room(String body) {
    String key = "\"bootstrap_room\":";
    int at = body.indexOf(key) + key.length();
    int end = at;
    while (Character.isDigit(body.charAt(end))) {
      end++;
    }
    return Long.parseLong(body.substring(at, end));
  }
}
