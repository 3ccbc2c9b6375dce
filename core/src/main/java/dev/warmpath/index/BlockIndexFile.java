package dev.warmpath.index;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32;
import java.util.zip.CheckedOutputStream;

/**
 * The form in which it is saved which blocks workers were believed to hold: hashes, and who the
 * workers are. No text, no token, no key and no salt is in it; yet who has the file and guesses a
 * whole prompt, with the salt that goes with it, can tell whether it was among them.
 *
 * <p><b>Format</b>, big endian, texts as {@link java.io.DataOutput#writeUTF} writes them:
 *
 * <table>
 * <caption>Fields in their order</caption>
 * <tr><th>field</th><th>type</th></tr>
 * <tr><td>magic number, "WPBI"</td><td>int</td></tr>
 * <tr><td>version, 1; a change of how {@code BlockKeys} makes keys is another version, too</td>
 *     <td>int</td></tr>
 * <tr><td>when it was written, in milliseconds since 1970 UTC</td><td>long</td></tr>
 * <tr><td>number of ranks, and for each of them:</td><td>int</td></tr>
 * <tr><td>address of its worker</td><td>text</td></tr>
 * <tr><td>its number, -1 for a worker of one rank</td><td>int</td></tr>
 * <tr><td>engine, empty for unknown</td><td>text</td></tr>
 * <tr><td>tokens of the engine's block, 0 for unknown</td><td>int</td></tr>
 * <tr><td>hash of the names of its models, 0 for unknown</td><td>long</td></tr>
 * <tr><td>number of stretches, and for each, the most recently used first:</td><td>int</td></tr>
 * <tr><td>which of the rank's blocks so far it follows, -1 for none</td><td>int</td></tr>
 * <tr><td>tiers: 1 HBM, 2 DRAM, 4 SSD</td><td>byte</td></tr>
 * <tr><td>number of blocks, and the 64-bit key of each: its hash mixed with its namespace</td>
 *     <td>int, longs</td></tr>
 * <tr><td>CRC-32 of all before</td><td>long</td></tr>
 * </table>
 */
public final class BlockIndexFile {
  /** How many blocks of one rank are saved at most. */
  public static final int MOST_BLOCKS_OF_RANK = 1 << 16;

  /** How many blocks are saved at most. */
  public static final int MOST_BLOCKS = 1 << 20;

  /** How long a file may be that is read, in bytes. */
  public static final long MOST_BYTES = 32L << 20;

  private static final int MAGIC = 0x57504249; // "WPBI"
  private static final int VERSION = 1;
  private static final int MOST_RANKS = 1 << 16;
  private static final int ALL_TIERS = Holding.HBM | Holding.DRAM | Holding.SSD;
  private static final int SHORTEST = 2 * Integer.BYTES + 2 * Long.BYTES + Integer.BYTES;

  private BlockIndexFile() {}

  /**
   * What one rank was believed to hold.
   *
   * @param worker the address of its worker
   * @param rank its number, -1 for a worker of one rank
   * @param engine the engine's kind, empty for unknown
   * @param blockTokens the tokens of the engine's block, 0 for unknown
   * @param models a hash of the names of its models, 0 for unknown
   * @param held the blocks
   */
  public record Rank(
      String worker, int rank, String engine, int blockTokens, long models, HeldBlocks held) {}

  /**
   * What a file says.
   *
   * @param at when it was written
   * @param ranks what each rank was believed to hold
   */
  public record Content(Instant at, List<Rank> ranks) {
    /** Copies the ranks. */
    public Content {
      ranks = List.copyOf(ranks);
    }
  }

  /**
   * Writes a file. Ranks and blocks beyond the bounds are the caller's to leave out.
   *
   * @param content what it is to say
   * @param target where it goes; stays open
   * @throws IOException if it can't be written
   */
  public static void write(Content content, OutputStream target) throws IOException {
    CheckedOutputStream checked = new CheckedOutputStream(target, new CRC32());
    DataOutputStream out = new DataOutputStream(checked);
    out.writeInt(MAGIC);
    out.writeInt(VERSION);
    out.writeLong(content.at().toEpochMilli());
    out.writeInt(content.ranks().size());
    for (Rank rank : content.ranks()) {
      out.writeUTF(rank.worker());
      out.writeInt(rank.rank());
      out.writeUTF(rank.engine());
      out.writeInt(rank.blockTokens());
      out.writeLong(rank.models());
      write(rank.held(), out);
    }
    out.writeLong(checked.getChecksum().getValue());
    out.flush();
  }

  private static void write(HeldBlocks held, DataOutputStream out) throws IOException {
    out.writeInt(held.stretches());
    for (int stretch = 0; stretch < held.stretches(); stretch++) {
      int start = held.start(stretch);
      out.writeInt(held.parents[stretch]);
      out.writeByte(held.tiers[stretch]);
      out.writeInt(held.ends[stretch] - start);
      for (int i = start; i < held.ends[stretch]; i++) {
        out.writeLong(held.keys[i]);
      }
    }
  }

  /**
   * Reads a file.
   *
   * @param source where it comes from; stays open
   * @return what it says
   * @throws IOException if it can't be read, is no such file, of another version, damaged, or
   *     beyond the bounds
   */
  public static Content read(InputStream source) throws IOException {
    byte[] bytes = source.readNBytes((int) MOST_BYTES + 1);
    if (bytes.length > MOST_BYTES) {
      throw new IOException("longer than " + MOST_BYTES + " bytes");
    }
    DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes));
    if (bytes.length < SHORTEST || in.readInt() != MAGIC) {
      throw new IOException("not a file of blocks that workers hold");
    }
    int version = in.readInt();
    if (version != VERSION) {
      throw new IOException("blocks that workers hold of version " + version + ", not " + VERSION);
    }
    checkSum(bytes);
    Instant at = Instant.ofEpochMilli(in.readLong());
    int count = within(in.readInt(), 0, MOST_RANKS);
    List<Rank> ranks = new ArrayList<>();
    int blocks = 0;
    for (int i = 0; i < count; i++) {
      Rank rank =
          new Rank(
              in.readUTF(),
              within(in.readInt(), -1, MOST_RANKS),
              in.readUTF(),
              within(in.readInt(), 0, Integer.MAX_VALUE),
              in.readLong(),
              readBlocks(in));
      blocks = within(blocks + rank.held().size(), 0, MOST_BLOCKS);
      ranks.add(rank);
    }
    within(in.available(), Long.BYTES, Long.BYTES);
    return new Content(at, ranks);
  }

  private static void checkSum(byte[] bytes) throws IOException {
    CRC32 sum = new CRC32();
    int length = bytes.length - Long.BYTES;
    sum.update(bytes, 0, length);
    long told = new DataInputStream(new ByteArrayInputStream(bytes, length, Long.BYTES)).readLong();
    if (told != sum.getValue()) {
      throw damaged();
    }
  }

  private static HeldBlocks readBlocks(DataInputStream in) throws IOException {
    // Neither number asks for more memory than the file is long.
    int stretches = within(in.readInt(), 0, Math.min(MOST_BLOCKS_OF_RANK, in.available() / 9));
    int[] ends = new int[stretches];
    int[] parents = new int[stretches];
    byte[] tiers = new byte[stretches];
    long[] keys = new long[64];
    int blocks = 0;
    for (int i = 0; i < stretches; i++) {
      parents[i] = within(in.readInt(), HeldBlocks.ROOT, blocks - 1);
      tiers[i] = (byte) within(in.readByte(), 1, ALL_TIERS);
      int room = Math.min(MOST_BLOCKS_OF_RANK - blocks, in.available() / Long.BYTES);
      ends[i] = blocks + within(in.readInt(), 1, room);
      if (ends[i] > keys.length) {
        keys = Arrays.copyOf(keys, Math.max(ends[i], 2 * keys.length));
      }
      while (blocks < ends[i]) {
        keys[blocks++] = in.readLong();
      }
    }
    return new HeldBlocks(Arrays.copyOf(keys, blocks), ends, parents, tiers);
  }

  private static int within(int value, int least, int most) throws IOException {
    if (value < least || value > most) {
      throw damaged();
    }
    return value;
  }

  private static IOException damaged() {
    return new IOException("damaged file of blocks that workers hold");
  }
}
