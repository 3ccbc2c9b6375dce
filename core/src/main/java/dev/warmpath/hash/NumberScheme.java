package dev.warmpath.hash;

/**
 * A scheme whose blocks have an unsigned 64-bit number and nothing wider: it chains what it
 * reports.
 */
abstract class NumberScheme extends HashScheme {

  NumberScheme(HashNamespace namespace, int lookAhead) {
    super(namespace, lookAhead);
  }

  @Override
  public final ReportedForm reportedForm() {
    return ReportedForm.WHOLE_64_UNSIGNED;
  }

  @Override
  public int digestBytes() {
    return 0;
  }

  @Override
  public long maxTokenId() {
    return UNSIGNED_INT_MAX;
  }

  @Override
  final int linkBytes() {
    return Long.BYTES;
  }

  @Override
  final byte[] parseLink(String text) {
    return Bytes.ofLong(Bytes.unsigned("a parent hash", text));
  }
}
