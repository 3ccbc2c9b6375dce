package dev.warmpath.knowledge.embedding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.embedding.Embedding;
import dev.langchain4j.data.segment.TextSegment;
import dev.langchain4j.model.embedding.EmbeddingModel;
import dev.langchain4j.model.output.Response;
import dev.warmpath.knowledge.KnowledgeIds;
import dev.warmpath.knowledge.KnowledgeRetriever.Found;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class EmbeddingRetrieverTest {

  /** Counts letters: texts are close where they use the same ones. */
  private static final class Letters implements EmbeddingModel {
    int embedded;

    @Override
    public Response<List<Embedding>> embedAll(List<TextSegment> segments) {
      List<Embedding> embeddings = new ArrayList<>();
      for (TextSegment segment : segments) {
        embedded++;
        float[] counts = new float[26];
        segment.text().chars().filter(c -> c >= 'a' && c <= 'z').forEach(c -> counts[c - 'a']++);
        embeddings.add(Embedding.from(counts));
      }
      return Response.from(embeddings);
    }
  }

  private final Letters model = new Letters();

  @Test
  void findsTheClosestPieceAlone() {
    EmbeddingRetriever retriever = new EmbeddingRetriever(model);
    retriever.add(List.of("aaab", "cccd", "aabb"));

    List<Found> found = retriever.retrieve("aaa");

    assertThat(found)
        .singleElement()
        .satisfies(
            piece -> {
              assertThat(piece.text()).isEqualTo("aaab");
              assertThat(piece.id()).isEqualTo(KnowledgeIds.of("aaab"));
              assertThat(piece.score()).isBetween(0.94, 0.95);
            });
  }

  @Test
  void leavesOutWhatIsFarFromTheQuestionOrFromTheBest() {
    EmbeddingRetriever retriever = new EmbeddingRetriever(model, 5, 0.25, 0.75);
    retriever.add(List.of("aaaa", "aaab", "abbb", "zzzz"));

    assertThat(retriever.retrieve("aaaa")).extracting(Found::text).containsExactly("aaaa", "aaab");
    assertThat(retriever.retrieve("qqqq")).isEmpty();
  }

  @Test
  void theSameTextIsEmbeddedOnceAndHasItsOwnId() {
    EmbeddingRetriever retriever = new EmbeddingRetriever(model);

    List<String> ids = retriever.add(List.of("aaab", "  aaab\r\n", "", "cd"));
    retriever.add(List.of("cd"));

    assertThat(ids.get(0)).isEqualTo(ids.get(1)).isEqualTo(KnowledgeIds.of("aaab"));
    assertThat(retriever.size()).isEqualTo(2);
    assertThat(model.embedded).isEqualTo(2);
  }

  @Test
  void nothingIsFoundInNothing() {
    assertThat(new EmbeddingRetriever(model).retrieve("a")).isEmpty();
    assertThatThrownBy(() -> new EmbeddingRetriever(model, 0, 0, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("topK=0");
  }
}
