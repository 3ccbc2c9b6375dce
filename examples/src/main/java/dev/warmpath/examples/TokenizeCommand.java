package dev.warmpath.examples;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.prompt.ModelFiles;
import dev.warmpath.prompt.ModelFilesException;
import dev.warmpath.prompt.tokenizer.Tokenizer;
import dev.warmpath.prompt.tokenizer.TokenizerLoadException;
import dev.warmpath.prompt.tokenizer.Tokenizers;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.ZoneId;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Turns text into a model's token ids, and back. */
@Command(
    name = "tokenize",
    description = "Turns text into the token ids of a model's own tokenizer, and back.")
final class TokenizeCommand implements Callable<Integer> {
  /** Stands for ids that are not named but come from the text. */
  private static final String OF_THE_TEXT = "text";

  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it before the command runs
  private CommandSpec spec;

  @Option(
      names = "--tokenizer",
      paramLabel = "DIR|FILE",
      required = true,
      description = "a model's directory, or a tokenizer.json, which then stands alone")
  @SuppressWarnings("NullAway.Init") // picocli sets it before the command runs
  private Path path;

  @ArgGroup private @Nullable Input input;

  @Option(
      names = "--detokenize",
      paramLabel = "IDS",
      arity = "0..1",
      fallbackValue = OF_THE_TEXT,
      description = "ids to turn into text, such as 1,2,3; without ids, those of the input")
  private @Nullable String detokenize;

  @Option(
      names = "--now",
      paramLabel = "ISO",
      description = "for --messages: what strftime_now shows (default: the clock)")
  private @Nullable String now;

  @Option(
      names = "--special-tokens",
      negatable = true,
      defaultValue = "true",
      fallbackValue = "true",
      description =
          "whether a text gets the tokens that the model puts around it, as in a plain completion"
              + " (default: ${DEFAULT-VALUE})")
  private boolean specialTokens = true;

  @Option(
      names = "--skip-special-tokens",
      description = "leave special tokens out of detokenized text")
  private boolean skipSpecialTokens;

  @Option(names = "--json", description = "print one JSON document")
  private boolean json;

  private static final class Input {
    @Option(names = "--text", paramLabel = "S", description = "the text")
    private @Nullable String text;

    @Option(names = "--text-file", paramLabel = "FILE", description = "a file with the text")
    private @Nullable Path textFile;

    @Option(
        names = "--messages",
        paramLabel = "FILE",
        description =
            "a chat as JSON, laid out by the model's chat template: a list of messages, or an"
                + " OpenAI body with tools and chat_template_kwargs")
    private @Nullable Path messages;

    @Option(
        names = "--tokens-file",
        paramLabel = "FILE",
        description = "for --detokenize: a file with ids, also as JSON")
    private @Nullable Path tokensFile;
  }

  /** Ids and the text that they stand for. */
  private record Result(int[] ids, String text) {}

  @Override
  public Integer call() throws IOException {
    print(result());
    return 0;
  }

  private Result result() throws IOException {
    Input given = input;
    boolean named = detokenize != null && !detokenize.equals(OF_THE_TEXT);
    if (named == (given != null)) {
      throw CommandFailure.usage(
          "give --text, --text-file, --messages or --detokenize IDS, one of them");
    }
    if (given == null) {
      return decoded(load(), ids(TokenIds.parse(String.valueOf(detokenize))));
    }
    if (given.tokensFile != null) {
      if (detokenize == null) {
        throw CommandFailure.usage("--tokens-file holds ids already: add --detokenize");
      }
      return decoded(load(), ids(TokenIds.read(given.tokensFile)));
    }
    if (given.messages != null) {
      ChatFile chat = ChatFile.read(given.messages);
      ModelFiles model = model();
      // the template writes special tokens out
      return encoded(model.tokenizer(), chat.render(model, now()), false);
    }
    String text =
        given.textFile != null
            ? InputFiles.text("text", given.textFile)
            : typed(given.text == null ? "" : given.text);
    return encoded(load(), text, specialTokens);
  }

  private Clock now() {
    return now == null ? Clock.system(ZoneId.systemDefault()) : RenderCommand.fixed(now);
  }

  private Result encoded(Tokenizer tokenizer, String text, boolean special) {
    int[] ids = tokenizer.encode(text, special);
    return detokenize == null ? new Result(ids, text) : decoded(tokenizer, ids);
  }

  private Result decoded(Tokenizer tokenizer, int[] ids) {
    return new Result(ids, tokenizer.decode(ids, skipSpecialTokens));
  }

  private ModelFiles model() {
    requireTokenizer();
    if (!Files.isDirectory(path)) {
      throw CommandFailure.usage(
          "--messages needs the model's chat template: give --tokenizer the model's directory");
    }
    try {
      return ModelFiles.of(path);
    } catch (TokenizerLoadException | ModelFilesException e) {
      throw CommandFailure.work(String.valueOf(e.getMessage()));
    }
  }

  private void requireTokenizer() {
    InputFiles.requireReadable(
        "tokenizer", Files.isDirectory(path) ? path.resolve("tokenizer.json") : path);
  }

  private Tokenizer load() {
    requireTokenizer();
    try {
      return Tokenizers.load(path);
    } catch (TokenizerLoadException e) {
      throw CommandFailure.work(String.valueOf(e.getMessage()));
    }
  }

  private static int[] ids(long[] given) {
    return Arrays.stream(given)
        .mapToInt(
            id -> {
              if (id < 0 || id > Integer.MAX_VALUE) {
                throw CommandFailure.usage("token id " + id + " is outside any vocabulary");
              }
              return (int) id;
            })
        .toArray();
  }

  /**
   * Text from the command line. Without a UTF-8 locale the virtual machine has lost other than
   * ASCII characters before this program began, and the ids would be those of another text.
   */
  private static String typed(String text) {
    String charset = System.getProperty("sun.jnu.encoding", "UTF-8");
    if (text.indexOf('\uFFFD') >= 0 && !charset.equalsIgnoreCase("UTF-8")) {
      throw CommandFailure.usage(
          "--text holds characters that this locale ("
              + charset
              + ") has no letters for: use --text-file, or a UTF-8 locale such as LC_ALL=C.UTF-8");
    }
    return text;
  }

  private void print(Result result) {
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      ObjectNode document = Json.object();
      ArrayNode ids = document.putArray("ids");
      Arrays.stream(result.ids()).forEach(ids::add);
      document.put("text", result.text());
      out.println(Json.document(document));
    } else if (detokenize != null) {
      // without a line end of its own: what is printed is the text
      out.print(result.text());
      out.flush();
    } else {
      out.println(
          Arrays.stream(result.ids()).mapToObj(String::valueOf).collect(Collectors.joining(",")));
    }
  }
}
