package dev.warmpath.fake.internal.surface;

import dev.warmpath.fake.scheduler.EngineEffect;

/** A handoff that a worker takes part in, as the worker sees it. Thread-safe and non-blocking. */
interface HandoffParty {

  /** Takes a fact of a rank's lifecycle, which may be heard before the answer it follows. */
  void hear(EngineEffect effect);

  /** The worker dies. */
  void lost(Life life);

  /** How many KV blocks the worker holds for somebody to fetch. */
  int heldBlocks(Life life);
}
