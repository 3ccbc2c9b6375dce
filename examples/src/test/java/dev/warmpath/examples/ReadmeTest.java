package dev.warmpath.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** README shows what works: its Java compiles, and its commands name options that exist. */
class ReadmeTest {
  private static final Pattern JAVA = Pattern.compile("```java\\R(.*?)```", Pattern.DOTALL);
  private static final Pattern COMMAND =
      Pattern.compile("java -jar examples/target/warmpath\\.jar (\\S.*)");

  @TempDir Path classes;

  @Test
  void itsJavaCompiles() throws IOException {
    List<String> snippets = new ArrayList<>();
    Matcher found = JAVA.matcher(readme());
    while (found.find()) {
      snippets.add(found.group(1));
    }
    assertThat(snippets).hasSizeGreaterThanOrEqualTo(2);
    for (int i = 0; i < snippets.size(); i++) {
      assertThat(compile("Snippet" + i, snippets.get(i))).isEmpty();
    }
  }

  private String compile(String name, String snippet) {
    String source =
        "import dev.warmpath.*; import dev.warmpath.api.*; import dev.warmpath.okhttp.*; import"
            + " dev.warmpath.grpc.umbp.*; import dev.warmpath.knowledge.*; import dev.warmpath.policy.*; import dev.warmpath.prompt.*;"
            + " import dev.warmpath.config.*; import dev.warmpath.transport.*;"
            + " import okhttp3.*; import java.net.URI; import java.nio.file.Path;\n"
            + "class "
            + name
            + " { void run(String json, String streamingJson, OkHttpClient existing, RouterClient"
            + " router) throws Exception {\n"
            + (snippet.contains("RouterClient router =")
                ? "router(json, streamingJson); } void router(String json, String streamingJson)"
                    + " throws Exception {\n"
                : "")
            + snippet
            + "}}";
    JavaFileObject file =
        new SimpleJavaFileObject(
            URI.create("string:///" + name + ".java"), JavaFileObject.Kind.SOURCE) {
          @Override
          public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return source;
          }
        };
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StringWriter complaints = new StringWriter();
    boolean compiled =
        compiler
            .getTask(
                complaints,
                null,
                null,
                List.of(
                    "-d",
                    classes.toString(),
                    "-proc:none",
                    "-classpath",
                    System.getProperty("java.class.path")),
                null,
                List.of(file))
            .call();
    return compiled ? "" : complaints.toString();
  }

  @Test
  void itsCommandsParse() throws IOException {
    Matcher found = COMMAND.matcher(readme());
    int commands = 0;
    while (found.find()) {
      String[] args = found.group(1).replaceAll("`.*", "").trim().split("\\s+");
      if (args[0].equals("COMMAND")) {
        continue;
      }
      CommandLine.ParseResult parsed = Main.commandLine().parseArgs(args);
      assertThat(parsed.subcommand()).as(found.group()).isNotNull();
      commands++;
    }
    assertThat(commands).isGreaterThanOrEqualTo(2);
  }

  private static String readme() throws IOException {
    Path folder = Path.of("").toAbsolutePath();
    while (!Files.exists(folder.resolve("CHANGELOG.md"))) {
      folder = folder.getParent();
    }
    return Files.readString(folder.resolve("README.md"));
  }
}
