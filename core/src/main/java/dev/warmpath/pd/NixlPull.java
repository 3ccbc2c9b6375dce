package dev.warmpath.pd;

import org.jspecify.annotations.Nullable;

/**
 * vLLM's NixlConnector: prefill's answer says where its blocks are, and decode fetches them. The
 * parameters are for one decode only, and opaque.
 */
final class NixlPull extends VllmLegs {
  NixlPull() {
    super("nixl", PdShape.SEQUENTIAL);
  }

  @Override
  public boolean recomputes() {
    return true;
  }

  @Override
  public boolean decodesAlone() {
    return true;
  }

  @Override
  String prefillParams(PdPair pair, AttemptIds ids) {
    return producer().object();
  }

  @Override
  byte @Nullable [] decodeParams(PdPair pair, AttemptIds ids, byte @Nullable [] handOff) {
    return handOff;
  }
}
