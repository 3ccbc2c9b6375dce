package dev.warmpath.fake.internal.grpc;

/** What every imitated model says of itself. */
final class ModelFacts {
  static final String TYPE = "fake";
  static final String ARCHITECTURE = "FakeForCausalLM";
  static final int VOCABULARY = 152_064;
  static final int BEGIN_OF_TEXT = 1;

  /** The token that ends an answer of natural length. */
  static final int END_OF_TEXT = 2;

  private ModelFacts() {}
}
