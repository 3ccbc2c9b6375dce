package dev.warmpath.fake.lab;

import dev.warmpath.fake.load.TraceRequest;
import dev.warmpath.fake.load.TraceSession;
import dev.warmpath.fake.scheduler.BlockSource;
import dev.warmpath.fake.scheduler.EngineRequest;
import dev.warmpath.hash.BlockChain;
import dev.warmpath.hash.HashParams;
import dev.warmpath.hash.HashSchemes;
import dev.warmpath.hash.Retention;
import dev.warmpath.prompt.Prompt;
import java.util.Arrays;

/**
 * One request of a simulated user, as lengths and identities; nobody knows its text.
 *
 * @param promptTokens prompt length
 * @param outputTokens answer length
 * @param ids one identity per stretch of the prompt, and maybe of the answer behind it: two
 *     requests share a prefix exactly as long as their identities are equal. Not to be changed
 * @param tokensPerId tokens of a stretch
 * @param document names what the prompt begins with, where that is shared knowledge
 * @param documentTokens how long that is
 */
record LabRequest(
    int promptTokens,
    int outputTokens,
    long[] ids,
    int tokensPerId,
    String document,
    int documentTokens) {

  /** The model that requests name. */
  static final String MODEL = "lab";

  /** What a session asks for in one of its turns. */
  static LabRequest of(TraceSession session, int turn, int maxOutputTokens) {
    TraceRequest request = session.turns().get(turn);
    return new LabRequest(
        request.inputTokens(),
        Math.max(1, Math.min(maxOutputTokens, request.outputTokens())),
        session.ids(turn),
        request.hashBlockTokens(),
        request.program(),
        session.systemTokens());
  }

  /** The first tokens of the document as a prompt of their own, whose KV a node has. */
  EngineRequest document(int tokens) {
    return new EngineRequest(0, new BlockSource.Stretches(ids, tokensPerId), tokens, 0, 0);
  }

  /** The prompt as a router client chains it: what a tokenizer would have given it. */
  Prompt prompt() {
    BlockChain chain =
        HashSchemes.content(
                HashParams.builder().blockSize(Prompt.CLIENT_BLOCK_TOKENS).model(MODEL).build())
            .newChain(Retention.REPORTED);
    int left = promptTokens;
    for (int i = 0; i < ids.length && left > 0; i++) {
      int take = Math.min(left, tokensPerId);
      chain.append(tokens(ids[i], tokensPerId), 0, take);
      left -= take;
    }
    if (left > 0) {
      throw new IllegalStateException("a prompt of " + promptTokens + " tokens lacks identities");
    }
    return Prompt.ofTokens(MODEL, true, chain.state());
  }

  /** The tokens that a stretch of some identity consists of. */
  static int[] tokens(long id, int count) {
    int[] tokens = new int[count];
    Arrays.fill(tokens, Long.hashCode(id * 0x9E3779B97F4A7C15L));
    tokens[0] = (int) id;
    return tokens;
  }

  EngineRequest forEngine(long id) {
    return new EngineRequest(
        id, new BlockSource.Stretches(ids, tokensPerId), promptTokens, outputTokens, 0);
  }

  /** Sizes only. */
  @Override
  public String toString() {
    return "LabRequest[" + promptTokens + " -> " + outputTokens + " tokens]";
  }
}
