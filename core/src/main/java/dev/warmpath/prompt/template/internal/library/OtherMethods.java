package dev.warmpath.prompt.template.internal.library;

import dev.warmpath.prompt.template.internal.python.Args;
import dev.warmpath.prompt.template.internal.python.BoundMethod;
import dev.warmpath.prompt.template.internal.python.Compare;
import dev.warmpath.prompt.template.internal.python.DictView;
import dev.warmpath.prompt.template.internal.python.Missing;
import dev.warmpath.prompt.template.internal.python.Numbers;
import dev.warmpath.prompt.template.internal.python.Py;
import dev.warmpath.prompt.template.internal.python.PyBytes;
import dev.warmpath.prompt.template.internal.python.PyError;
import dev.warmpath.prompt.template.internal.python.PyIterator;
import dev.warmpath.prompt.template.internal.python.PyNone;
import dev.warmpath.prompt.template.internal.python.PyObject;
import dev.warmpath.prompt.template.internal.python.PyRange;
import dev.warmpath.prompt.template.internal.python.Rendering;
import dev.warmpath.prompt.template.internal.python.Repr;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/** The methods of ranges, dict views, iterators and bytes. */
final class OtherMethods {
  private OtherMethods() {}

  static BoundMethod.@Nullable Method get(PyObject object, String name) {
    if (object instanceof PyRange) {
      return switch (name) {
        case "count" ->
            (r, self, args) ->
                Compare.contains(r, self, Parameters.one("range.count", args)) ? 1L : 0L;
        case "index" -> OtherMethods::rangeIndex;
        default -> null;
      };
    }
    if (object instanceof DictView view && view.kind() != DictView.Kind.VALUES) {
      return name.equals("isdisjoint") ? OtherMethods::isDisjoint : null;
    }
    if (object instanceof PyBytes) {
      return switch (name) {
        case "decode" -> OtherMethods::decode;
        case "hex" -> (r, self, args) -> HexFormat.of().formatHex(((PyBytes) self).bytes());
        default -> null;
      };
    }
    if (object instanceof PyIterator iterator && iterator.typeName().equals("generator")) {
      return switch (name) {
        case "close" ->
            (r, self, args) -> {
              while (iterator.hasNext()) {
                r.charge();
                iterator.next();
              }
              return PyNone.NONE;
            };
        case "send", "throw" ->
            (r, self, args) -> {
              throw PyError.type("can't send non-None value to a just-started generator");
            };
        default -> null;
      };
    }
    return null;
  }

  private static Object rangeIndex(Rendering r, Object self, Args args) {
    Object value = Parameters.one("range.index", args);
    PyRange range = (PyRange) self;
    for (int i = 0; i < range.length(); i++) {
      r.charge();
      if (Compare.equal(r, range.at(i), value)) {
        return (long) i;
      }
    }
    throw PyError.value(
        Numbers.isIntegral(value)
            ? Repr.of(r, value) + " is not in range"
            : "sequence.index(x): x not in sequence");
  }

  private static Object isDisjoint(Rendering r, Object self, Args args) {
    Object other = Parameters.one(Py.typeName(self) + ".isdisjoint", args);
    for (Iterator<Object> it = Py.iterate(r, other); it.hasNext(); ) {
      r.charge();
      if (Compare.contains(r, self, it.next())) {
        return false;
      }
    }
    return true;
  }

  private static Object decode(Rendering r, Object self, Args args) {
    Object encoding = Parameters.named("decode", args, "encoding", "errors")[0];
    String name = encoding == Missing.MISSING ? "utf-8" : Parameters.text("decode", encoding, 1);
    byte[] bytes = ((PyBytes) self).bytes();
    r.chargeChars(bytes.length);
    try {
      return switch (name.toLowerCase(java.util.Locale.ROOT)) {
        case "utf-8", "utf8" ->
            StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
        case "ascii" ->
            StandardCharsets.US_ASCII.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
        case "latin-1", "latin1" -> new String(bytes, StandardCharsets.ISO_8859_1);
        default -> throw PyError.of("LookupError", "unknown encoding: " + name);
      };
    } catch (CharacterCodingException e) {
      throw PyError.of("UnicodeDecodeError", "'" + name + "' codec can't decode bytes");
    }
  }
}
