package dev.warmpath.fake.load;

import dev.warmpath.fake.text.FakeTokenizer;
import dev.warmpath.fake.text.PromptEncoder;
import java.io.IOException;
import java.io.Reader;
import java.io.Writer;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Makes an anonymised trace of a request log: arrivals, lengths and which blocks are equal, and
 * nothing else. Prompts, answers, names and keys reach neither the trace nor a log.
 *
 * <p>The log is a JSON object per line:
 *
 * <ul>
 *   <li>{@code body} (or {@code request}): the body of a chat completion or completion; without
 *       either, the line itself is the body
 *   <li>{@code timestamp} (or {@code time}): seconds or milliseconds since 1970, or ISO 8601 with
 *       an offset
 *   <li>{@code usage} (or {@code response.usage}), if known: {@code completion_tokens} is the
 *       answer's length; else the body's limit is
 *   <li>{@code session_id}, if known: requests of one conversation, renumbered in the trace
 * </ul>
 *
 * <p>The trace is in {@link MooncakeTrace}'s format, in the log's order, with times after the first
 * line's. Block ids are numbers in order of appearance. Blocks are compared by a hash under a key
 * that is drawn for the recording and thrown away, so that a trace can't be checked against guessed
 * texts; what it does tell is how long prompts are and which of them begin alike.
 *
 * <p>Lines that are no request are counted by reason and left out. Memory is bounded by {@link
 * Builder#mostBlocks} and {@link Builder#mostLineChars}. Threads may share a recorder; each
 * recording is its own.
 */
public final class TraceRecorder {
  private static final int MOST_SESSIONS = 1 << 18;

  private final PromptEncoder encoder;
  private final int blockTokens;
  private final int defaultOutputTokens;
  private final int mostBlocks;
  private final int mostLineChars;

  private TraceRecorder(Builder builder) {
    this.encoder = builder.encoder;
    this.blockTokens = builder.blockTokens;
    this.defaultOutputTokens = builder.defaultOutputTokens;
    this.mostBlocks = builder.mostBlocks;
    this.mostLineChars = builder.mostLineChars;
  }

  /**
   * Starts to describe a recorder.
   *
   * @return a builder with defaults for everything
   */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * Records a log.
   *
   * @param log the log; best buffered, stays open
   * @param trace where rows are written to; stays open
   * @return what became of the log's lines
   * @throws IOException if reading or writing fails; lines that can't be used are no failure
   */
  public RecordedTrace record(Reader log, Writer trace) throws IOException {
    return new Recording(log, trace).run();
  }

  private final class Recording {
    private final Reader log;
    private final Writer trace;
    private final KeyedBlocks blocks = new KeyedBlocks(blockTokens, mostBlocks);
    private final DenseIds<String> sessions = new DenseIds<>(MOST_SESSIONS);
    private final Map<String, RecordedTrace.Skipped> skipped = new LinkedHashMap<>();
    private @Nullable Double origin;
    private long number;
    private long lines;
    private long rows;
    private long promptTokens;
    private long reportedTokens;
    private long countedTokens;
    private long assumedOutputs;

    Recording(Reader log, Writer trace) {
      this.log = log;
      this.trace = trace;
    }

    RecordedTrace run() throws IOException {
      StringBuilder text = new StringBuilder();
      for (boolean more = true; more; ) {
        more = readLine(text);
        number++;
        if (text.toString().isBlank()) {
          continue;
        }
        lines++;
        try {
          if (text.length() > mostLineChars) {
            throw new LogLine.Unusable("more than " + mostLineChars + " characters");
          }
          write(LogLine.parse(text.toString(), encoder));
        } catch (LogLine.Unusable e) {
          skipped.merge(
              e.reason(), new RecordedTrace.Skipped(1, number), (old, one) -> old.another());
        }
      }
      return new RecordedTrace(
          lines,
          rows,
          skipped,
          blocks.unique(),
          blocks.forgotten(),
          promptTokens,
          reportedTokens,
          countedTokens,
          assumedOutputs);
    }

    /** Reads up to one character more than a line may have, and skips the rest of the line. */
    private boolean readLine(StringBuilder text) throws IOException {
      text.setLength(0);
      for (int c = log.read(); c >= 0; c = log.read()) {
        if (c == '\n') {
          return true;
        }
        if (text.length() <= mostLineChars) {
          text.append((char) c);
        }
      }
      return false;
    }

    private void write(LogLine line) throws IOException {
      double first = origin == null ? line.atMs() : origin;
      origin = first;
      String session = line.session().isEmpty() ? "" : "session-" + sessions.id(line.session());
      int output = line.output();
      long counted = 0;
      for (int[] prompt : line.prompts()) {
        counted += prompt.length;
        if (output < 0) {
          assumedOutputs++;
        }
        MooncakeTrace.write(
            new TraceRequest(
                line.atMs() - first,
                session,
                0,
                prompt.length,
                Math.max(1, output < 0 ? defaultOutputTokens : output),
                blocks.of(prompt),
                blockTokens,
                ""),
            trace);
        rows++;
      }
      promptTokens += counted;
      if (line.reportedPromptTokens() > 0) {
        reportedTokens += line.reportedPromptTokens();
        countedTokens += counted;
      }
    }
  }

  /** Describes a {@link TraceRecorder}; not thread-safe. */
  public static final class Builder {
    private PromptEncoder encoder = FakeTokenizer.instance();
    private int blockTokens = TraceRequest.MOONCAKE_BLOCK_TOKENS;
    private int defaultOutputTokens = 256;
    private int mostBlocks = 1 << 20;
    private int mostLineChars = 32 << 20;

    private Builder() {}

    /**
     * Sets what counts tokens; {@link FakeTokenizer} by default, which takes 4 bytes for a token.
     *
     * @param value such as a {@link dev.warmpath.fake.text.ModelPromptEncoder} of the model's own
     * @return this
     */
    public Builder promptEncoder(PromptEncoder value) {
      encoder = Objects.requireNonNull(value, "encoder");
      return this;
    }

    /**
     * Sets the length of blocks; 512 tokens by default, as in Mooncake's traces.
     *
     * @param value tokens, at least 16: shorter ones would tell short texts apart
     * @return this
     */
    public Builder blockTokens(int value) {
      blockTokens = atLeast(16, value, "blockTokens");
      return this;
    }

    /**
     * Sets the length of answers that nothing tells; 256 tokens by default.
     *
     * @param value tokens, at least 1
     * @return this
     */
    public Builder defaultOutputTokens(int value) {
      defaultOutputTokens = atLeast(1, value, "defaultOutputTokens");
      return this;
    }

    /**
     * Sets how many blocks are remembered, at about 120 bytes each; 1,048,576 by default.
     *
     * @param value blocks, at least 1
     * @return this
     */
    public Builder mostBlocks(int value) {
      mostBlocks = atLeast(1, value, "mostBlocks");
      return this;
    }

    /**
     * Sets how long a line may be; 33,554,432 characters by default.
     *
     * @param value characters, at least 1
     * @return this
     */
    public Builder mostLineChars(int value) {
      mostLineChars = atLeast(1, value, "mostLineChars");
      return this;
    }

    private static int atLeast(int least, int value, String name) {
      if (value < least) {
        throw new IllegalArgumentException(name + " must be at least " + least + ", was " + value);
      }
      return value;
    }

    /**
     * Builds the recorder.
     *
     * @return the recorder
     */
    public TraceRecorder build() {
      return new TraceRecorder(this);
    }
  }
}
