package dev.warmpath.examples;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.hash.BlockChain;
import dev.warmpath.hash.BlockHashes;
import dev.warmpath.hash.HashParams;
import dev.warmpath.hash.HashSchemes;
import dev.warmpath.hash.Retention;
import dev.warmpath.hash.TokenRangeException;
import dev.warmpath.hash.UnreproducibleHashException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Computes an engine's block hashes of a prompt. */
@Command(name = "hash", description = "Computes the block hashes that an engine has for a prompt.")
final class HashCommand implements Callable<Integer> {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String LIST = "list";

  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it before the command runs
  private CommandSpec spec;

  @Option(
      names = "--scheme",
      paramLabel = "NAME",
      required = true,
      description = "the engine's hash scheme; 'list' prints them all")
  private String scheme = LIST;

  @Option(
      names = "--block-size",
      paramLabel = "N",
      description = "tokens in a block or page (default: as --params says, or the engine's own)")
  private @Nullable Integer blockSize;

  @Option(
      names = "--params",
      paramLabel = "FILE",
      description = "a JSON object: block_size, seed, cache_salt, lora_name, parent_hex, ...")
  private @Nullable Path params;

  @ArgGroup private @Nullable Tokens tokens;

  @Option(names = "--json", description = "print one JSON document")
  private boolean json;

  private static final class Tokens {
    @Option(names = "--tokens", paramLabel = "IDS", description = "the token ids, such as 1,2,3")
    private @Nullable String list;

    @Option(
        names = "--tokens-file",
        paramLabel = "FILE",
        description = "a file with token ids, also as JSON")
    private @Nullable Path file;

    long[] ids() throws IOException {
      Path from = file;
      return from != null ? TokenIds.read(from) : TokenIds.parse(list == null ? "" : list);
    }
  }

  @Override
  public Integer call() throws IOException {
    if (scheme.equals(LIST)) {
      list();
      return 0;
    }
    Tokens given = tokens;
    if (given == null) {
      throw CommandFailure.usage("give --tokens or --tokens-file");
    }
    if (!HashSchemes.names().contains(scheme)) {
      throw CommandFailure.usage(
          "there is no hash scheme '" + scheme + "': use one of " + HashSchemes.names());
    }
    print(hashes(parameters(), given.ids()));
    return 0;
  }

  private void list() {
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      ObjectNode document = Json.object();
      HashSchemes.names().forEach(document.putArray("schemes")::add);
      out.println(Json.document(document));
    } else {
      HashSchemes.names().forEach(out::println);
    }
  }

  private HashParams parameters() throws IOException {
    ObjectNode values = JSON.createObjectNode();
    Path file = params;
    if (file != null) {
      if (!(JSON.valueToTree(InputFiles.json("params", file)) instanceof ObjectNode read)) {
        throw CommandFailure.usage("params file '" + file + "' is not a JSON object");
      }
      values = read;
    }
    Integer tokensPerBlock = blockSize;
    if (tokensPerBlock != null) {
      // what the file says of the size, or derives from it, no longer holds
      values.remove(List.of("page_size", "block_size", "hash_block_tokens"));
      values.put("block_size", tokensPerBlock);
    }
    HashParams parsed = HashParams.parse(values.toString());
    if (!parsed.unknownKeys().isEmpty()) {
      spec.commandLine()
          .getErr()
          .println("no scheme reads these parameters: " + String.join(", ", parsed.unknownKeys()));
    }
    return parsed;
  }

  private BlockHashes hashes(HashParams of, long[] ids) {
    try {
      BlockChain chain = HashSchemes.open(scheme, of, Retention.DIGESTS);
      return chain.append(ids).finish().hashes();
    } catch (TokenRangeException e) {
      throw CommandFailure.usage(e.getMessage() + remedy());
    } catch (UnreproducibleHashException e) {
      throw CommandFailure.work(String.valueOf(e.getMessage()));
    }
  }

  /** What helps against ids that are too wide. */
  private String remedy() {
    boolean optional =
        scheme.startsWith("sglang") || scheme.startsWith("fake-sglang"); // has a form for them
    return optional
        ? "; if the engine is of the unconfirmed revision that hashes wider ids, set"
            + " \"wide_tokens\": true in --params, otherwise take the ids from the model's own"
            + " tokenizer"
        : "; take the ids from the model's own tokenizer";
  }

  private void print(BlockHashes hashes) {
    PrintWriter out = spec.commandLine().getOut();
    boolean local = hashes.scheme().hasLocalHashes();
    if (json) {
      ObjectNode document = Json.object().put("scheme", scheme);
      ArrayNode blocks = document.putArray("blocks");
      for (int i = 0; i < hashes.size(); i++) {
        ObjectNode block = blocks.addObject();
        block.put("digest_hex", hashes.digestHex(i));
        block.put("reported", hashes.reported(i));
        if (local) {
          block.put("local", Long.toUnsignedString(hashes.local(i)));
        }
      }
      out.println(Json.document(document));
      return;
    }
    TextTable table =
        local
            ? new TextTable("block", "reported", "local")
            : new TextTable("block", "reported", "digest");
    for (int i = 0; i < hashes.size(); i++) {
      String digest = hashes.digestHex(i);
      table.row(
          Integer.toString(i),
          hashes.reported(i),
          local ? Long.toUnsignedString(hashes.local(i)) : digest == null ? "-" : digest);
    }
    out.println(table.toString().stripTrailing());
  }
}
