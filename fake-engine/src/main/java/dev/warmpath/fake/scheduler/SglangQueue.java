package dev.warmpath.fake.scheduler;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * SGLang's waiting queue.
 *
 * <p>A request whose prompt is partly computed stands at the head, and there is at most one: a
 * chunk that ends within a prompt ends the pass's budget. Requests that come back go behind it.
 */
final class SglangQueue {
  /** Beyond so many requests, sorting by prefix is not worth its time. */
  private static final int LONGEST_SORTED = 128;

  /** A request that finds more than this in the cache need not wait for one that begins alike. */
  private static final int SHORT_PREFIX = 32;

  private record Scored(RadixSequence sequence, int cached, boolean later) {}

  private static final Comparator<Scored> LONGEST_PREFIX =
      Comparator.comparing(Scored::later)
          .thenComparing(Comparator.comparingInt(Scored::cached).reversed());

  private final ArrayDeque<RadixSequence> sequences = new ArrayDeque<>();
  private final Set<RadixSequence> parked = new LinkedHashSet<>();
  private final PassMeter meter;
  private int retracted;

  SglangQueue(PassMeter meter) {
    this.meter = meter;
  }

  /** Requests that can be admitted, now or later. */
  int size() {
    return sequences.size();
  }

  /** Requests that stand beside the queue until their pages have come back. */
  int parked() {
    return parked.size();
  }

  @Nullable RadixSequence head() {
    return sequences.peekFirst();
  }

  void append(RadixSequence sequence) {
    sequences.addLast(sequence);
    moments(sequence).add(sequence.length());
  }

  /** Puts a sequence whose prompt is partly computed back to the head. */
  void giveBack(RadixSequence begun) {
    sequences.addFirst(begun);
    moments(begun).add(begun.length());
  }

  /** Takes a retracted sequence, ahead of everything but a begun one. */
  void requeue(RadixSequence sequence) {
    addFirst(sequence);
    moments(sequence).add(sequence.length());
    sequence.retracted = true;
    retracted++;
  }

  private void addFirst(RadixSequence sequence) {
    RadixSequence head = sequences.peekFirst();
    RadixSequence begun = head != null && head.begun() ? sequences.removeFirst() : null;
    sequences.addFirst(sequence);
    if (begun != null) {
      sequences.addFirst(begun);
    }
  }

  /** Lets the head stand aside until its pages have come back. */
  void park(RadixOffload.SwapIn swapIn) {
    RadixSequence head = sequences.removeFirst();
    head.swapIn = swapIn;
    parked.add(head);
  }

  /** Puts a parked sequence back, ahead of everything but a begun one. */
  void unpark(RadixSequence sequence) {
    parked.remove(sequence);
    sequence.swapIn = null;
    addFirst(sequence);
  }

  /** Requests that were retracted and have not been admitted again. */
  int retracted() {
    return retracted;
  }

  RadixSequence removeHead() {
    RadixSequence head = sequences.removeFirst();
    removed(head);
    return head;
  }

  boolean remove(RadixSequence sequence) {
    boolean found = sequences.remove(sequence);
    RadixOffload.SwapIn swapIn = sequence.swapIn;
    if (swapIn != null) {
      swapIn.cancel();
      sequence.swapIn = null;
      found = parked.remove(sequence);
    }
    if (found) {
      removed(sequence);
    }
    return found;
  }

  private void removed(RadixSequence sequence) {
    moments(sequence).remove(sequence.length());
    if (sequence.retracted) {
      sequence.retracted = false;
      retracted--;
    }
  }

  List<RadixSequence> all() {
    List<RadixSequence> all = new ArrayList<>(sequences);
    all.addAll(parked);
    return all;
  }

  private TokenMoments moments(RadixSequence sequence) {
    return sequence.generated > 0 || sequence.arrived ? meter.queuedDecode : meter.queuedPrefill;
  }

  /** Sorts by policy; a begun sequence stays at the head. */
  void order(SchedulePolicy policy, RadixKv kv) {
    if (policy == SchedulePolicy.FCFS
        || sequences.size() < 2
        || sequences.size() > LONGEST_SORTED) {
      return;
    }
    RadixSequence begun = sequences.getFirst().begun() ? sequences.removeFirst() : null;
    int alike = kv.pagesFor(SHORT_PREFIX);
    Set<Long> beginnings = new HashSet<>();
    List<Scored> scored = new ArrayList<>(sequences.size());
    for (RadixSequence sequence : sequences) {
      int cached = kv.cachedTokens(sequence);
      boolean later =
          cached <= SHORT_PREFIX
              && sequence.length() >= alike * kv.pageSize()
              && !beginnings.add(sequence.hashes.first(alike)[alike - 1]);
      scored.add(new Scored(sequence, cached, later));
    }
    scored.sort(LONGEST_PREFIX);
    sequences.clear();
    if (begun != null) {
      sequences.addFirst(begun);
    }
    scored.forEach(each -> sequences.addLast(each.sequence()));
  }
}
