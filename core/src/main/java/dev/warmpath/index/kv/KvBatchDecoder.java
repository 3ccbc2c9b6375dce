package dev.warmpath.index.kv;

import dev.warmpath.index.KvBatch;
import dev.warmpath.index.KvEvent;
import dev.warmpath.index.kv.MsgpackReader.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;

/**
 * Reads the batches that SGLang, vLLM and ATOM publish of their KV caches, in MessagePack: {@code
 * [seconds, events, rank]} or a map of the same. An event is an array with a tag in front (SGLang
 * to 0.5.19, vLLM to 0.23, ATOM) or a map with a {@code type}; fields that are not known, and
 * events that are not, are left out, as every version adds some (sglang {@code
 * disaggregation/kv_events.py}, vllm {@code distributed/kv_events.py}, ATOM {@code
 * distributed/kv_events.py}).
 *
 * <p>Hashes are kept as 64 bits: of one that is published as bytes the last ones. Which of a hybrid
 * model's groups of blocks is told on is remembered from batch to batch, so each rank needs a
 * decoder of its own. Not thread safe.
 */
public final class KvBatchDecoder {
  private final MsgpackReader in = new MsgpackReader();
  private final EventFields fields = new EventFields(in);
  private final List<KvEvent> events = new ArrayList<>();
  private double epochSeconds;
  private OptionalInt rank = OptionalInt.empty();

  /** Creates a decoder for the batches of one rank. */
  public KvBatchDecoder() {}

  /**
   * Reads a batch.
   *
   * @param sequence its number, or {@link KvBatch#UNNUMBERED}
   * @param message the payload
   * @return what it tells
   * @throws MalformedBatchException if it can't be read
   */
  public KvBatch decode(long sequence, byte[] message) {
    in.reset(message);
    events.clear();
    epochSeconds = 0;
    rank = OptionalInt.empty();
    if (in.next() == Kind.MAP) {
      int pairs = in.map();
      for (int i = 0; i < pairs; i++) {
        field(in.name());
      }
    } else {
      int count = in.array();
      for (int place = 0; place < count; place++) {
        field(place);
      }
    }
    return new KvBatch(sequence, epochSeconds, events);
  }

  /** The data-parallel rank that the last batch named. */
  public OptionalInt rank() {
    return rank;
  }

  private void field(int place) {
    switch (place) {
      case 0 -> epochSeconds = in.number();
      case 1 -> events();
      case 2 -> readRank();
      default -> in.skip();
    }
  }

  private void field(String name) {
    switch (name) {
      case "ts" -> epochSeconds = in.number();
      case "events" -> events();
      case "data_parallel_rank", "attn_dp_rank", "dp_rank" -> readRank();
      default -> in.skip();
    }
  }

  private void readRank() {
    if (!in.nil()) {
      rank = OptionalInt.of((int) in.integer());
    }
  }

  private void events() {
    int count = in.array();
    for (int i = 0; i < count; i++) {
      fields.clear();
      if (in.next() == Kind.MAP) {
        inMap();
      } else {
        inArray();
      }
    }
  }

  private void inArray() {
    int count = in.array();
    if (count == 0) {
      return;
    }
    String tag = in.name();
    for (int place = 1; place < count; place++) {
      switch (tag) {
        case "BlockStored" -> fields.stored(place);
        case "BlockRemoved" -> fields.removed(place);
        case "BlockTransferred" -> fields.transferred(place);
        default -> in.skip();
      }
    }
    add(tag);
  }

  private void inMap() {
    int pairs = in.map();
    String tag = "";
    for (int i = 0; i < pairs; i++) {
      String name = in.name();
      if (name.equals("type")) {
        tag = in.name();
      } else {
        fields.field(name);
      }
    }
    add(tag);
  }

  private void add(String tag) {
    switch (tag) {
      case "BlockStored" -> {
        KvEvent stored = fields.toStored();
        if (stored != null) {
          events.add(stored);
        }
      }
      case "BlockRemoved" -> {
        KvEvent removed = fields.toRemoved();
        if (removed != null) {
          events.add(removed);
        }
      }
      case "BlockTransferred" -> fields.toTransferred(events);
      case "AllBlocksCleared" -> events.add(new KvEvent.Cleared());
      default -> {
        // What a later version tells of besides.
      }
    }
  }
}
