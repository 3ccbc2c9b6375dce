package dev.warmpath.index;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link BlockLocator} knows of a prompt's blocks. Not knowing is told apart from knowing
 * that nobody holds any.
 *
 * @param nodes who holds some of them, in any order
 * @param asked how many of the prompt's first blocks this is about; 0 where nothing was learned
 * @param failure why it is about fewer than it could be, or null where nothing went wrong
 */
public record BlockAnswer(List<Node> nodes, int asked, @Nullable Failure failure) {
  /** Copies the list. */
  public BlockAnswer {
    nodes = List.copyOf(nodes);
  }

  /**
   * One that holds blocks, by the store's names for it.
   *
   * @param id the store's name
   * @param peerAddress where its peers reach it, {@code host:port}; empty where that is not known
   * @param blocks what it holds
   */
  public record Node(String id, String peerAddress, BlockTiers blocks) {}

  /**
   * Why nothing, or not everything, was learned.
   *
   * @param kind what went wrong
   * @param detail in words, without any key; or null
   */
  public record Failure(Kind kind, @Nullable String detail) {
    @Override
    public String toString() {
      return detail == null ? kind.label() : kind.label() + ": " + detail;
    }
  }

  /** Kinds of failures. */
  public enum Kind {
    /** No answer in time. */
    DEADLINE("deadline"),
    /** The store can't be reached, or can't reach its own. */
    UNAVAILABLE("unavailable"),
    /** Too many look-ups were under way. */
    BUSY("busy"),
    /** The store failed lately and is left alone for a while. */
    OPEN("breaker open"),
    /** The store answered, but not with what was asked for. */
    ERROR("error"),
    /** The look-up was given up by its caller, or the locator is closed. */
    CANCELLED("cancelled");

    private final String label;

    Kind(String label) {
      this.label = label;
    }

    /** The kind in words. */
    public String label() {
      return label;
    }
  }

  /** Nothing was learned. */
  public static BlockAnswer failed(Kind kind, @Nullable String detail) {
    return new BlockAnswer(List.of(), 0, new Failure(kind, detail));
  }
}
