package dev.warmpath.fake.internal.surface;

import com.fasterxml.jackson.databind.JsonNode;
import org.jspecify.annotations.Nullable;

/** Puts a generation on the wire in one engine's and one endpoint's shape. */
interface Answer {

  /** New text of one item of a streamed call, its first if {@code first}. */
  void delta(
      EventSink sink,
      Generation generation,
      Generation.Item item,
      boolean first,
      @Nullable String finish);

  /** Everything a stream still lacks once all items ended. */
  void endStream(EventSink sink, Generation generation);

  /** The whole answer of a call that is not streamed. */
  JsonNode body(Generation generation);
}
