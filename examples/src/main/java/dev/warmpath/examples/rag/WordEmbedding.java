package dev.warmpath.examples.rag;

import dev.langchain4j.data.embedding.Embedding;
import dev.langchain4j.data.segment.TextSegment;
import dev.langchain4j.model.embedding.EmbeddingModel;
import dev.langchain4j.model.output.Response;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An embedding without a model, for trying things out: which words a text has, by their hashes. It
 * finds what shares words with the question, and knows no meaning. Thread safe.
 */
public final class WordEmbedding implements EmbeddingModel {
  private static final int DIMENSIONS = 4_096;
  private static final Pattern WORD = Pattern.compile("[\\p{L}\\p{N}_]{3,}");

  @Override
  public int dimension() {
    return DIMENSIONS;
  }

  @Override
  public Response<List<Embedding>> embedAll(List<TextSegment> texts) {
    return Response.from(
        texts.stream().map(text -> embed(text.text())).map(Response::content).toList());
  }

  @Override
  public Response<Embedding> embed(String text) {
    Map<String, Integer> counts = new HashMap<>();
    Matcher words = WORD.matcher(text.toLowerCase(Locale.ROOT));
    while (words.find()) {
      counts.merge(words.group(), 1, Integer::sum);
    }
    float[] vector = new float[DIMENSIONS];
    // a word that is long says more, and one that comes often not much more than one that comes
    counts.forEach(
        (word, count) ->
            vector[Math.floorMod(word.hashCode() * 0x9E3779B9, DIMENSIONS)] +=
                (float) (word.length() * (1 + Math.log(count))));
    return Response.from(Embedding.from(vector));
  }
}
