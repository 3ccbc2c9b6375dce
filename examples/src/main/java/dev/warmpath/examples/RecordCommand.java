package dev.warmpath.examples;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.fake.load.RecordedTrace;
import dev.warmpath.fake.load.TraceRecorder;
import dev.warmpath.fake.text.ModelPromptEncoder;
import dev.warmpath.prompt.ModelFiles;
import dev.warmpath.prompt.ModelFilesException;
import dev.warmpath.prompt.tokenizer.TokenizerLoadException;
import dev.warmpath.worker.EngineKind;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Makes an anonymised trace of a request log, for {@code bench} and {@code lab} to replay. */
@Command(
    name = "record",
    description =
        "Makes a trace of a request log: arrivals, lengths and which blocks are equal, no text.")
final class RecordCommand implements Callable<Integer> {
  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it before the command runs
  private CommandSpec spec;

  @Option(
      names = "--log",
      required = true,
      paramLabel = "FILE",
      description =
          "the log, a JSON object per line with timestamp, body (of a chat or completion), and"
              + " perhaps usage and session_id; - is standard input")
  private String log = "-";

  @Option(names = "--out", required = true, paramLabel = "FILE", description = "the trace")
  private Path out = Path.of("trace.jsonl");

  @Option(
      names = "--model-dir",
      paramLabel = "DIR",
      description = "the model's directory, for exact lengths and blocks; else 4 bytes are a token")
  private @Nullable Path modelDir;

  @Option(
      names = "--block-size",
      paramLabel = "N",
      defaultValue = "512",
      description = "tokens of a block (default: ${DEFAULT-VALUE}, as in Mooncake's traces)")
  private int blockSize = 512;

  @Option(
      names = "--default-output",
      paramLabel = "N",
      defaultValue = "256",
      description =
          "tokens of answers that neither usage nor a limit tells (default: ${DEFAULT-VALUE})")
  private int defaultOutput = 256;

  @Option(names = "--json", description = "print one JSON document")
  private boolean json;

  @Override
  public Integer call() throws IOException {
    TraceRecorder.Builder recorder =
        TraceRecorder.builder().blockTokens(blockSize).defaultOutputTokens(defaultOutput);
    if (modelDir != null) {
      recorder.promptEncoder(encoder(modelDir));
    }
    RecordedTrace recorded = record(recorder.build());
    spec.commandLine().getOut().println(json ? Json.document(document(recorded)) : text(recorded));
    if (recorded.rows() == 0) {
      throw CommandFailure.work("no line of " + log + " is a request: " + reasons(recorded));
    }
    return 0;
  }

  private static ModelPromptEncoder encoder(Path directory) {
    try {
      return new ModelPromptEncoder(ModelFiles.of(directory), EngineKind.SGLANG);
    } catch (TokenizerLoadException | ModelFilesException e) {
      throw CommandFailure.usage("--model-dir " + directory + ": " + e.getMessage());
    }
  }

  /** Writes beside the trace and moves it there when it is whole. */
  private RecordedTrace record(TraceRecorder recorder) throws IOException {
    if (!log.equals("-")) {
      InputFiles.requireReadable("log", Path.of(log));
    }
    Path target = out.toAbsolutePath();
    Path folder = target.getParent();
    if (folder == null || !Files.isDirectory(folder) || Files.isDirectory(target)) {
      throw CommandFailure.usage(
          "--out " + out + " can't be written: name a file in a folder that is there");
    }
    Path partial = Files.createTempFile(folder, target.getFileName().toString(), ".part");
    try {
      RecordedTrace recorded;
      try (Reader reader =
              log.equals("-")
                  ? new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))
                  : new BufferedReader(
                      new InputStreamReader(
                          Files.newInputStream(Path.of(log)), StandardCharsets.UTF_8));
          Writer writer = Files.newBufferedWriter(partial)) {
        recorded = recorder.record(reader, writer);
      }
      if (recorded.rows() > 0) {
        Files.move(partial, target, java.nio.file.StandardCopyOption.REPLACE_EXISTING);
      }
      return recorded;
    } finally {
      Files.deleteIfExists(partial);
    }
  }

  private ObjectNode document(RecordedTrace recorded) {
    ObjectNode document = Json.object();
    document.put("trace", out.toString());
    document.put("lines", recorded.lines());
    document.put("rows", recorded.rows());
    ObjectNode skipped = document.putObject("skipped");
    new TreeMap<>(recorded.skipped())
        .forEach(
            (reason, of) ->
                skipped
                    .putObject(reason)
                    .put("lines", of.lines())
                    .put("first_line", of.firstLine()));
    document.put("prompt_tokens", recorded.promptTokens());
    document.put("unique_blocks", recorded.uniqueBlocks());
    document.put("forgotten_blocks", recorded.forgottenBlocks());
    document.put("assumed_outputs", recorded.assumedOutputs());
    Json.put(document, "counted_over_reported", countedOverReported(recorded));
    return document;
  }

  private static double countedOverReported(RecordedTrace recorded) {
    return recorded.reportedPromptTokens() == 0
        ? Double.NaN
        : (double) recorded.countedPromptTokens() / recorded.reportedPromptTokens();
  }

  private String text(RecordedTrace recorded) {
    StringBuilder text = new StringBuilder();
    text.append(
        String.format(
            Locale.ROOT,
            "%d requests of %d lines in %s: %d prompt tokens, %d different blocks of %d",
            recorded.rows(),
            recorded.lines(),
            out,
            recorded.promptTokens(),
            recorded.uniqueBlocks(),
            blockSize));
    if (recorded.skippedLines() > 0) {
      text.append(System.lineSeparator()).append("left out: ").append(reasons(recorded));
    }
    if (recorded.assumedOutputs() > 0) {
      text.append(
          String.format(
              Locale.ROOT,
              "%n%d answers taken for %d tokens long, as nothing tells",
              recorded.assumedOutputs(),
              defaultOutput));
    }
    if (recorded.reportedPromptTokens() > 0) {
      text.append(
          String.format(
              Locale.ROOT,
              "%ncounted %.2f prompt tokens for each that engines reported",
              countedOverReported(recorded)));
    }
    if (recorded.forgottenBlocks() > 0) {
      text.append(
          String.format(
              Locale.ROOT,
              "%n%d blocks were forgotten to bound memory: the trace may have less reuse than the"
                  + " log",
              recorded.forgottenBlocks()));
    }
    return text.toString();
  }

  private static String reasons(RecordedTrace recorded) {
    StringBuilder text = new StringBuilder();
    new TreeMap<>(recorded.skipped())
        .forEach(
            (reason, of) ->
                text.append(text.isEmpty() ? "" : "; ")
                    .append(reason)
                    .append(": ")
                    .append(of.lines())
                    .append(" (line ")
                    .append(of.firstLine())
                    .append(of.lines() == 1 ? ")" : " first)"));
    return text.isEmpty() ? "it is empty" : text.toString();
  }
}
