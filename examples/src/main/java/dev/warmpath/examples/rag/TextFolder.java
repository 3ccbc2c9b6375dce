package dev.warmpath.examples.rag;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** Reads the texts of a folder in pieces that prompts have room for. */
public final class TextFolder {
  private static final int MAX_FILES = 1_000;

  private TextFolder() {}

  /**
   * A piece of a file.
   *
   * @param source the file's name, and the piece's number in it
   * @param text what it says
   */
  public record Piece(String source, String text) {
    /** The source only: never the text. */
    @Override
    public String toString() {
      return source;
    }
  }

  /**
   * Reads the {@code .md} and {@code .txt} files of a folder, not of those below it. A piece ends
   * at the paragraph that fills it; a short rest goes with the piece before.
   *
   * @param pieceCharacters how long a piece is, about
   * @throws IOException if the folder or a file can't be read
   */
  public static List<Piece> read(Path folder, int pieceCharacters) throws IOException {
    List<Path> files;
    try (Stream<Path> list = Files.list(folder)) {
      files =
          list.filter(Files::isRegularFile)
              .filter(TextFolder::isText)
              .sorted()
              .limit(MAX_FILES)
              .toList();
    }
    List<Piece> pieces = new ArrayList<>();
    for (Path file : files) {
      try {
        cut(String.valueOf(file.getFileName()), Files.readString(file), pieceCharacters, pieces);
      } catch (CharacterCodingException e) {
        // not a text, whatever its name says
      }
    }
    return pieces;
  }

  private static boolean isText(Path file) {
    String name = String.valueOf(file.getFileName()).toLowerCase(Locale.ROOT);
    return name.endsWith(".md") || name.endsWith(".txt");
  }

  private static void cut(String file, String text, int length, List<Piece> into) {
    List<String> cut = new ArrayList<>();
    StringBuilder piece = new StringBuilder();
    for (String paragraph : text.split("\\R\\s*\\R", -1)) {
      piece.append(paragraph).append("\n\n");
      if (piece.length() >= length) {
        cut.add(piece.toString());
        piece.setLength(0);
      }
    }
    if (piece.length() > length / 4 || cut.isEmpty()) {
      cut.add(piece.toString());
    } else {
      cut.set(cut.size() - 1, cut.get(cut.size() - 1) + piece);
    }
    for (int i = 0; i < cut.size(); i++) {
      if (!cut.get(i).isBlank()) {
        into.add(new Piece(file + "#" + (i + 1), cut.get(i).strip()));
      }
    }
  }
}
