package dev.warmpath.index;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;
import org.jspecify.annotations.Nullable;

/**
 * What objects and arrays take up on this JVM's heap, in bytes.
 *
 * <p>Headers and references follow the flags of the running HotSpot. Where these can't be read the
 * largest layout is assumed, so that a count is never too low.
 */
final class HeapLayout {
  private static final int ALIGNMENT = intFlag("ObjectAlignmentInBytes", 8);
  private static final int REFERENCE = flag("UseCompressedOops") ? 4 : 8;
  private static final int HEADER =
      flag("UseCompactObjectHeaders") ? 8 : flag("UseCompressedClassPointers") ? 12 : 16;
  private static final int ARRAY_HEADER = HEADER + 4;
  private static final int WIDE_ARRAY_HEADER = (ARRAY_HEADER + 7) & ~7;

  private HeapLayout() {}

  /** An object with that many reference fields and that many bytes of primitive fields. */
  static int object(int references, int primitives) {
    return (int) align(HEADER + (long) references * REFERENCE + primitives);
  }

  static long bytes(byte @Nullable [] array) {
    return array == null ? 0 : bytes(array.length);
  }

  static long bytes(int length) {
    return align(ARRAY_HEADER + (long) length);
  }

  static long ints(int length) {
    return align(ARRAY_HEADER + 4L * length);
  }

  static long longs(long @Nullable [] array) {
    return array == null ? 0 : longs(array.length);
  }

  static long longs(int length) {
    return align(WIDE_ARRAY_HEADER + 8L * length);
  }

  static long references(int length) {
    return align((REFERENCE == 4 ? ARRAY_HEADER : WIDE_ARRAY_HEADER) + (long) REFERENCE * length);
  }

  private static long align(long size) {
    return (size + ALIGNMENT - 1) & -ALIGNMENT;
  }

  private static boolean flag(String name) {
    return Boolean.parseBoolean(option(name));
  }

  private static int intFlag(String name, int otherwise) {
    String value = option(name);
    return value == null ? otherwise : Integer.parseInt(value);
  }

  private static @Nullable String option(String name) {
    try {
      HotSpotDiagnosticMXBean hotSpot =
          ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
      return hotSpot == null ? null : hotSpot.getVMOption(name).getValue();
    } catch (IllegalArgumentException | NoClassDefFoundError e) {
      // Another JVM, an older flag set, or a runtime image without the management module.
      return null;
    }
  }
}
