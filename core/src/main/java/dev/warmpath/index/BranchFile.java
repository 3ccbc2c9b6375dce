package dev.warmpath.index;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32;
import java.util.zip.CheckedInputStream;
import java.util.zip.CheckedOutputStream;

/**
 * The form in which a trie is saved: a magic number, a version, the number of nodes, each node
 * (where it begins, its keys, what follows, its fork's two pairs), and a CRC-32 of all of it. Big
 * endian. Counts are left out: they fade before they could be read again.
 */
final class BranchFile {
  private static final int MAGIC = 0x57504254; // "WPBT"
  private static final int VERSION = 1;
  private static final int MOST_NODES = 1 << 24;

  private BranchFile() {}

  static void write(List<BranchNode.Shape> shapes, OutputStream target) throws IOException {
    CheckedOutputStream checked = new CheckedOutputStream(target, new CRC32());
    DataOutputStream out = new DataOutputStream(checked);
    out.writeInt(MAGIC);
    out.writeInt(VERSION);
    out.writeInt(shapes.size());
    for (BranchNode.Shape shape : shapes) {
      out.writeInt(shape.from);
      write(shape.keys, out);
      write(shape.children, out);
      out.writeLong(shape.fork.reuse());
      out.writeLong(shape.fork.presence());
    }
    out.writeLong(checked.getChecksum().getValue());
    out.flush();
  }

  private static void write(long[] keys, DataOutputStream out) throws IOException {
    out.writeInt(keys.length);
    for (long key : keys) {
      out.writeLong(key);
    }
  }

  static List<BranchNode.Shape> read(InputStream source, int longest) throws IOException {
    CheckedInputStream checked = new CheckedInputStream(source, new CRC32());
    DataInputStream in = new DataInputStream(checked);
    if (in.readInt() != MAGIC) {
      throw new IOException("not a file of branch statistics");
    }
    int version = in.readInt();
    if (version != VERSION) {
      throw new IOException("branch statistics of version " + version + ", not " + VERSION);
    }
    int count = within(in.readInt(), 0, MOST_NODES);
    List<BranchNode.Shape> shapes = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int from = within(in.readInt(), 0, Integer.MAX_VALUE - 1);
      long[] keys = read(in, 1, Integer.MAX_VALUE - from);
      long[] children = read(in, 0, BranchTrie.FAN);
      Fork fork = new Fork(in.readLong(), in.readLong());
      if (from + keys.length <= longest && sound(fork)) {
        shapes.add(new BranchNode.Shape(from, keys, children, fork));
      }
    }
    long sum = checked.getChecksum().getValue();
    if (in.readLong() != sum) {
      throw new IOException("damaged branch statistics");
    }
    return shapes;
  }

  /** Grows as it reads, so that a damaged length asks for no more memory than the file is long. */
  private static long[] read(DataInputStream in, int least, int most) throws IOException {
    int length = within(in.readInt(), least, most);
    long[] keys = new long[Math.min(length, 1_024)];
    for (int i = 0; i < length; i++) {
      if (i == keys.length) {
        keys = Arrays.copyOf(keys, Math.min(length, 2 * i));
      }
      keys[i] = in.readLong();
    }
    return keys;
  }

  private static int within(int value, int least, int most) throws IOException {
    if (value < least || value > most) {
      throw new IOException("damaged branch statistics");
    }
    return value;
  }

  private static boolean sound(Fork fork) {
    float visits = Fading.first(fork.reuse());
    float reused = Fading.second(fork.reuse());
    float presence = Fading.first(fork.presence());
    return reused >= 0 && reused <= visits && presence >= 0 && presence <= 1;
  }
}
