package dev.warmpath.fake.internal.grpc;

import dev.warmpath.fake.fault.Fault;
import dev.warmpath.fake.internal.surface.Generation;
import dev.warmpath.fake.internal.surface.Logprobs;
import dev.warmpath.fake.text.PlannedText;
import dev.warmpath.proto.sglang.scheduler.GenerateComplete;
import dev.warmpath.proto.sglang.scheduler.GenerateRequest;
import dev.warmpath.proto.sglang.scheduler.GenerateResponse;
import dev.warmpath.proto.sglang.scheduler.GenerateStreamChunk;
import dev.warmpath.proto.sglang.scheduler.InputLogProbs;
import dev.warmpath.proto.sglang.scheduler.InputTokenLogProb;
import dev.warmpath.proto.sglang.scheduler.OutputLogProbs;
import dev.warmpath.proto.sglang.scheduler.TopLogProbs;
import org.jspecify.annotations.Nullable;

/**
 * Token ids as SGLang's servicer streams them: a chunk for every step, and behind the last one a
 * completion with the same tokens once more; without streaming a completion with all of them.
 */
final class SchedulerOutput extends GrpcOutput<GenerateResponse> {
  private final GenerateRequest request;

  SchedulerOutput(GrpcCall<GenerateResponse> call, @Nullable Fault fault, GenerateRequest request) {
    super(call, fault);
    this.request = request;
  }

  @Override
  public void step(Generation generation, Generation.Item item, boolean first) {
    if (!request.getStream()) {
      return;
    }
    int to = item.generated();
    int from = to - item.deltaTokens();
    send(response().setChunk(chunk(item, first, from, to)).build());
    if (!item.finish().isEmpty()) {
      send(response().setComplete(complete(item, from, to)).build());
    }
  }

  @Override
  public void end(Generation generation) {
    if (!request.getStream()) {
      for (Generation.Item item : generation.items()) {
        GenerateComplete.Builder complete = complete(item, 0, item.generated());
        if (asksForInput()) {
          complete.setInputLogprobs(input(item));
        }
        send(response().setComplete(complete).build());
      }
    }
    finish();
  }

  private GenerateResponse.Builder response() {
    return GenerateResponse.newBuilder().setRequestId(request.getRequestId());
  }

  private GenerateStreamChunk chunk(Generation.Item item, boolean first, int from, int to) {
    GenerateStreamChunk.Builder chunk =
        GenerateStreamChunk.newBuilder()
            .setPromptTokens(item.prompt().length)
            .setCompletionTokens(to)
            .setCachedTokens(item.cachedTokens())
            .setIndex(item.index());
    for (int i = from; i < to; i++) {
      chunk.addTokenIds(item.text().tokens()[i]);
    }
    if (request.getReturnLogprob()) {
      chunk.setOutputLogprobs(output(item, from, to));
    }
    if (first && asksForInput()) {
      chunk.setInputLogprobs(input(item));
    }
    return chunk.build();
  }

  private GenerateComplete.Builder complete(Generation.Item item, int from, int to) {
    GenerateComplete.Builder complete =
        GenerateComplete.newBuilder()
            .setFinishReason(item.finish())
            .setPromptTokens(item.prompt().length)
            .setCompletionTokens(item.generated())
            .setCachedTokens(item.cachedTokens())
            .setIndex(item.index());
    PlannedText text = item.text();
    for (int i = from; i < to; i++) {
      complete.addOutputIds(text.tokens()[i]);
    }
    if (request.getReturnLogprob()) {
      complete.setOutputLogprobs(output(item, from, to));
    }
    if (item.finish().equals("stop")) {
      if (text.matchedStop() != null) {
        complete.setMatchedStopStr(text.matchedStop());
      } else {
        Integer token = text.matchedToken();
        complete.setMatchedTokenId(token == null ? ModelFacts.END_OF_TEXT : token);
      }
    }
    return complete;
  }

  private boolean asksForInput() {
    return request.getReturnLogprob() && request.getLogprobStartLen() >= 0;
  }

  private OutputLogProbs output(Generation.Item item, int from, int to) {
    int[] tokens = item.text().tokens();
    OutputLogProbs.Builder output = OutputLogProbs.newBuilder();
    for (int i = from; i < to; i++) {
      output.addTokenIds(tokens[i]).addTokenLogprobs(Logprobs.of(tokens, i));
      if (request.getTopLogprobsNum() > 0) {
        output.addTopLogprobs(top(tokens, i));
      }
    }
    return output.build();
  }

  private InputLogProbs input(Generation.Item item) {
    int[] tokens = item.prompt();
    InputLogProbs.Builder input = InputLogProbs.newBuilder();
    for (int i = request.getLogprobStartLen(); i < tokens.length; i++) {
      InputTokenLogProb.Builder value = InputTokenLogProb.newBuilder();
      TopLogProbs top = TopLogProbs.getDefaultInstance();
      if (i > 0) {
        value.setValue(Logprobs.of(tokens, i));
        top = top(tokens, i);
      }
      input.addTokenIds(tokens[i]).addTokenLogprobs(value);
      if (request.getTopLogprobsNum() > 0) {
        input.addTopLogprobs(top);
      }
    }
    return input.build();
  }

  private TopLogProbs top(int[] tokens, int place) {
    TopLogProbs.Builder top = TopLogProbs.newBuilder();
    for (int token : Logprobs.candidates(tokens, place, request.getTopLogprobsNum())) {
      top.addValues(Logprobs.of(tokens, place, top.getTokenIdsCount())).addTokenIds(token);
    }
    return top.build();
  }
}
