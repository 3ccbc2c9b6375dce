package dev.warmpath.fake.internal.grpc;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.fake.fault.Fault;
import dev.warmpath.fake.internal.surface.Generation;
import dev.warmpath.fake.internal.surface.Logprobs;
import dev.warmpath.fake.text.PlannedText;
import dev.warmpath.proto.vllm.engine.GenerateComplete;
import dev.warmpath.proto.vllm.engine.GenerateRequest;
import dev.warmpath.proto.vllm.engine.GenerateResponse;
import dev.warmpath.proto.vllm.engine.GenerateStreamChunk;
import dev.warmpath.proto.vllm.engine.InputLogProbs;
import dev.warmpath.proto.vllm.engine.InputTokenLogProb;
import dev.warmpath.proto.vllm.engine.OutputLogProbs;
import dev.warmpath.proto.vllm.engine.TopLogProbs;
import org.jspecify.annotations.Nullable;

/**
 * Token ids as vLLM's servicer streams them. It differs from SGLang's in what it counts: the tokens
 * of a chunk, and in a stream's completion those of the last step.
 */
final class EngineOutput extends GrpcOutput<GenerateResponse> {
  private final boolean stream;
  private final int logprobs;
  private final int promptLogprobs;

  EngineOutput(GrpcCall<GenerateResponse> call, @Nullable Fault fault, GenerateRequest request) {
    super(call, fault);
    this.stream = request.getStream();
    var sampling = request.getSamplingParams();
    this.logprobs = sampling.hasLogprobs() ? sampling.getLogprobs() : -1;
    this.promptLogprobs = sampling.hasPromptLogprobs() ? sampling.getPromptLogprobs() : -1;
  }

  @Override
  public void step(Generation generation, Generation.Item item, boolean first) {
    if (!stream) {
      return;
    }
    int to = item.generated();
    int from = to - item.deltaTokens();
    send(GenerateResponse.newBuilder().setChunk(chunk(item, first, from, to)).build());
    if (!item.finish().isEmpty()) {
      send(complete(generation, item, from, to));
    }
  }

  @Override
  public void end(Generation generation) {
    if (!stream) {
      for (Generation.Item item : generation.items()) {
        send(complete(generation, item, 0, item.generated()));
      }
    }
    finish();
  }

  private GenerateStreamChunk chunk(Generation.Item item, boolean first, int from, int to) {
    GenerateStreamChunk.Builder chunk =
        GenerateStreamChunk.newBuilder()
            .setPromptTokens(item.prompt().length)
            .setCompletionTokens(to - from)
            .setCachedTokens(item.cachedTokens())
            .setIndex(item.index());
    for (int i = from; i < to; i++) {
      chunk.addTokenIds(item.text().tokens()[i]);
    }
    if (logprobs >= 0) {
      chunk.setOutputLogprobs(output(item, from, to));
    }
    if (first && promptLogprobs >= 0) {
      chunk.setInputLogprobs(input(item));
    }
    return chunk.build();
  }

  private GenerateResponse complete(Generation generation, Generation.Item item, int from, int to) {
    GenerateComplete.Builder complete =
        GenerateComplete.newBuilder()
            .setFinishReason(item.finish())
            .setPromptTokens(item.prompt().length)
            .setCompletionTokens(to - from)
            .setCachedTokens(item.cachedTokens())
            .setIndex(item.index());
    PlannedText text = item.text();
    for (int i = from; i < to; i++) {
      complete.addOutputIds(text.tokens()[i]);
    }
    if (logprobs >= 0) {
      complete.setOutputLogprobs(output(item, from, to));
    }
    if (!stream && promptLogprobs >= 0) {
      complete.setInputLogprobs(input(item));
    }
    // A natural end matches nothing that the request named.
    if (text.matchedStop() != null && item.finish().equals("stop")) {
      complete.setMatchedStopStr(text.matchedStop());
    } else if (text.matchedToken() != null && item.finish().equals("stop")) {
      complete.setMatchedTokenId(text.matchedToken());
    }
    JsonNode handOff = generation.handOff();
    if (handOff != null) {
      complete.setKvTransferParamsJson(handOff.toString());
    }
    return GenerateResponse.newBuilder().setComplete(complete).build();
  }

  private OutputLogProbs output(Generation.Item item, int from, int to) {
    int[] tokens = item.text().tokens();
    OutputLogProbs.Builder output = OutputLogProbs.newBuilder();
    for (int i = from; i < to; i++) {
      output.addTokenIds(tokens[i]).addTokenLogprobs(Logprobs.of(tokens, i));
      if (logprobs > 0) {
        output.addTopLogprobs(top(tokens, i, logprobs));
      }
    }
    return output.build();
  }

  private InputLogProbs input(Generation.Item item) {
    int[] tokens = item.prompt();
    InputLogProbs.Builder input = InputLogProbs.newBuilder();
    for (int i = 0; i < tokens.length; i++) {
      InputTokenLogProb.Builder value = InputTokenLogProb.newBuilder();
      TopLogProbs top = TopLogProbs.getDefaultInstance();
      if (i > 0) {
        value.setValue(Logprobs.of(tokens, i));
        top = top(tokens, i, promptLogprobs);
      }
      input.addTokenIds(tokens[i]).addTokenLogprobs(value);
      if (promptLogprobs > 0) {
        input.addTopLogprobs(top);
      }
    }
    return input.build();
  }

  private static TopLogProbs top(int[] tokens, int place, int count) {
    TopLogProbs.Builder top = TopLogProbs.newBuilder();
    for (int token : Logprobs.candidates(tokens, place, count)) {
      top.addValues(Logprobs.of(tokens, place, top.getTokenIdsCount())).addTokenIds(token);
    }
    return top.build();
  }
}
