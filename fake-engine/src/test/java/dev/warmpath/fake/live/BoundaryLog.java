package dev.warmpath.fake.live;

import dev.warmpath.fake.scheduler.CommandResult;
import dev.warmpath.fake.scheduler.EngineCommand;
import dev.warmpath.fake.scheduler.EngineEffect;
import dev.warmpath.fake.scheduler.ForwardPassMetrics;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** Writes down what a rank publishes. Thread-safe. */
public final class BoundaryLog implements RankObserver {

  /**
   * One step of a publication.
   *
   * @param kind which step
   * @param timeMs when
   * @param content what was published, in words
   */
  public record Entry(String kind, double timeMs, String content) {}

  private final List<Entry> entries = new CopyOnWriteArrayList<>();

  public List<Entry> entries() {
    return List.copyOf(entries);
  }

  public List<String> kinds() {
    return entries.stream().map(Entry::kind).toList();
  }

  public List<Entry> of(String kind) {
    return entries.stream().filter(entry -> entry.kind().equals(kind)).toList();
  }

  /** The order of everything, without times and what depends on them. */
  public List<String> order() {
    return entries.stream()
        .map(
            entry ->
                entry.kind().equals("Metrics")
                    ? "Metrics"
                    : entry.kind() + entry.content().replaceAll("wallMs=[^]]*", ""))
        .toList();
  }

  public int forwardPasses() {
    return of("FPM").size();
  }

  public void clear() {
    entries.clear();
  }

  private void add(String kind, double timeMs, Object content) {
    entries.add(new Entry(kind, timeMs, String.valueOf(content)));
  }

  private static String text(EngineEffect effect) {
    return effect instanceof EngineEffect.BlocksStored stored
        ? "BlocksStored["
            + stored.tier()
            + (stored.root() ? " root " : " after " + stored.parentHash())
            + Arrays.toString(stored.blockHashes())
            + Arrays.toString(stored.tokens())
            + "]"
        : effect.toString();
  }

  private static List<String> texts(List<? extends EngineEffect> effects) {
    return effects.stream().map(BoundaryLog::text).toList();
  }

  @Override
  public void admissions(int dpRank, double timeMs, List<EngineEffect> effects) {
    add("Admissions", timeMs, texts(effects));
  }

  @Override
  public void cacheChanged(List<KvEvent> events) {
    List<String> texts = new ArrayList<>();
    for (KvEvent event : events) {
      texts.add(event.eventId() + ":" + text(event.change()));
    }
    add("KV", events.get(0).timeMs(), texts);
  }

  @Override
  public void forwardPass(int dpRank, double timeMs, ForwardPassMetrics metrics) {
    add("FPM", timeMs, metrics);
  }

  @Override
  public void outputs(int dpRank, double timeMs, List<EngineEffect.Output> outputs) {
    add("Outputs", timeMs, texts(outputs));
  }

  @Override
  public void accounted(int dpRank, double timeMs, long passes, int tokens) {
    add("Accounting", timeMs, passes + " passes, " + tokens + " tokens");
  }

  @Override
  public void acknowledged(
      int dpRank, double timeMs, EngineCommand command, CommandResult.@Nullable Outcome outcome) {
    add("Ack", timeMs, command.getClass().getSimpleName() + " " + outcome);
  }

  @Override
  public void lifecycle(int dpRank, double timeMs, List<EngineEffect> effects) {
    add("Lifecycle", timeMs, texts(effects));
  }

  @Override
  public void metrics(int dpRank, double timeMs, RankSnapshot snapshot) {
    add("Metrics", timeMs, snapshot);
  }
}
