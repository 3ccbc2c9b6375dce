package dev.warmpath.knowledge.embedding;

import dev.langchain4j.data.embedding.Embedding;
import dev.langchain4j.data.segment.TextSegment;
import dev.langchain4j.model.embedding.EmbeddingModel;
import dev.warmpath.knowledge.KnowledgeIds;
import dev.warmpath.knowledge.KnowledgeRetriever;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Finds pieces of knowledge whose embeddings are closest to the question's, in memory, by comparing
 * with each of them: right for some ten thousand pieces. Beyond that, implement {@link
 * KnowledgeRetriever} over a vector store.
 *
 * <p>The rule is CacheRoute's (v0.1.9): the best {@code topK} by cosine, without those below {@code
 * minScore} or below {@code minRatio} of the best one. Thread safe where the model is: any thread
 * may add while others look.
 */
public final class EmbeddingRetriever implements KnowledgeRetriever {
  private static final int BATCH = 64;

  private final EmbeddingModel model;
  private final int topK;
  private final double minScore;
  private final double minRatio;

  private final ReentrantLock adding = new ReentrantLock();
  private volatile List<Piece> pieces = List.of();

  /** A text and its embedding, scaled to length 1. */
  private record Piece(String id, String text, float[] vector) {}

  /** The best piece alone, with a cosine of at least 0.25: CacheRoute's settings. */
  public EmbeddingRetriever(EmbeddingModel model) {
    this(model, 1, 0.25, 0.75);
  }

  /**
   * A retriever that knows nothing yet.
   *
   * @param model makes embeddings of texts and questions; it stays its owner's
   * @param topK how many pieces are found at most
   * @param minScore the least cosine
   * @param minRatio the least part of the best one's cosine, where that is positive
   */
  public EmbeddingRetriever(EmbeddingModel model, int topK, double minScore, double minRatio) {
    if (topK < 1) {
      throw new IllegalArgumentException("topK=" + topK + " finds nothing: use 1 or more");
    }
    this.model = model;
    this.topK = topK;
    this.minScore = minScore;
    this.minRatio = minRatio;
  }

  /**
   * Adds texts, those that aren't known yet. Embeds them on the calling thread.
   *
   * @return the ids of all of them, in their order
   */
  public List<String> add(Collection<String> texts) {
    List<String> ids = new ArrayList<>(texts.size());
    adding.lock();
    try {
      Set<String> known = new HashSet<>();
      pieces.forEach(piece -> known.add(piece.id()));
      List<String> fresh = new ArrayList<>();
      for (String text : texts) {
        String normal = KnowledgeIds.normalise(text);
        String id = KnowledgeIds.of(normal);
        ids.add(id);
        if (!normal.isEmpty() && known.add(id)) {
          fresh.add(normal);
        }
      }
      List<Piece> all = new ArrayList<>(pieces);
      for (int from = 0; from < fresh.size(); from += BATCH) {
        embed(fresh.subList(from, Math.min(fresh.size(), from + BATCH)), all);
      }
      pieces = List.copyOf(all);
    } finally {
      adding.unlock();
    }
    return ids;
  }

  private void embed(List<String> texts, List<Piece> into) {
    List<Embedding> embeddings =
        model.embedAll(texts.stream().map(TextSegment::from).toList()).content();
    for (int i = 0; i < texts.size(); i++) {
      String text = texts.get(i);
      into.add(new Piece(KnowledgeIds.of(text), text, unit(embeddings.get(i).vector())));
    }
  }

  /** How many pieces it knows. */
  public int size() {
    return pieces.size();
  }

  @Override
  public List<Found> retrieve(String question) {
    List<Piece> all = pieces;
    if (all.isEmpty()) {
      return List.of();
    }
    float[] wanted = unit(model.embed(question).content().vector());
    List<Found> found = new ArrayList<>();
    for (Piece piece : all) {
      double score = cosine(wanted, piece.vector());
      if (score >= minScore) {
        found.add(new Found(piece.id(), piece.text(), score));
      }
    }
    found.sort(Comparator.comparingDouble(Found::score).reversed().thenComparing(Found::id));
    if (found.isEmpty()) {
      return found;
    }
    double best = found.get(0).score();
    return found.stream()
        .filter(piece -> best <= 0 || piece.score() >= minRatio * best)
        .limit(topK)
        .toList();
  }

  private static float[] unit(float[] vector) {
    double square = 0;
    for (float value : vector) {
      square += (double) value * value;
    }
    float[] unit = Arrays.copyOf(vector, vector.length);
    if (square > 0) {
      double scale = 1 / Math.sqrt(square);
      for (int i = 0; i < unit.length; i++) {
        unit[i] = (float) (unit[i] * scale);
      }
    }
    return unit;
  }

  private static double cosine(float[] a, float[] b) {
    double sum = 0;
    int length = Math.min(a.length, b.length);
    for (int i = 0; i < length; i++) {
      sum += a[i] * b[i];
    }
    return sum;
  }
}
