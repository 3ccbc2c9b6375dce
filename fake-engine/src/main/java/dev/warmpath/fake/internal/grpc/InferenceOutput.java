package dev.warmpath.fake.internal.grpc;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.fake.fault.Fault;
import dev.warmpath.fake.internal.surface.Generation;
import dev.warmpath.fake.internal.surface.Logprobs;
import dev.warmpath.fake.text.PlannedText;
import dev.warmpath.proto.vllm.inference.CandidateTokenInfo;
import dev.warmpath.proto.vllm.inference.FinishInfo;
import dev.warmpath.proto.vllm.inference.GenerateResponse;
import dev.warmpath.proto.vllm.inference.PromptInfo;
import dev.warmpath.proto.vllm.inference.ResponseOptions;
import dev.warmpath.proto.vllm.inference.SequenceOutput;
import org.jspecify.annotations.Nullable;

/** Text and token ids as vLLM's Rust front end gives them: deltas of a stream, or the whole. */
final class InferenceOutput extends GrpcOutput<GenerateResponse> {
  private final boolean stream;
  private final ResponseOptions options;
  private boolean told;

  InferenceOutput(
      GrpcCall<GenerateResponse> call,
      @Nullable Fault fault,
      boolean stream,
      ResponseOptions options) {
    super(call, fault);
    this.stream = stream;
    this.options = options;
  }

  @Override
  public void step(Generation generation, Generation.Item item, boolean first) {
    if (stream) {
      int to = item.generated();
      send(generation, item, to - item.deltaTokens(), to);
    }
  }

  @Override
  public void end(Generation generation) {
    if (!stream) {
      Generation.Item item = generation.items().get(0);
      send(generation, item, 0, item.generated());
    }
    finish();
  }

  private void send(Generation generation, Generation.Item item, int from, int to) {
    GenerateResponse.Builder response =
        GenerateResponse.newBuilder().setOutputs(output(generation, item, from, to));
    if (!told) {
      told = true;
      response.setPromptInfo(prompt(item.prompt()));
    }
    send(response.build());
  }

  private PromptInfo prompt(int[] tokens) {
    PromptInfo.Builder prompt = PromptInfo.newBuilder().setNumPromptTokens(tokens.length);
    if (options.getPromptTokenIds()) {
      for (int token : tokens) {
        prompt.addTokenIds(token);
      }
    }
    return prompt.build();
  }

  private SequenceOutput output(Generation generation, Generation.Item item, int from, int to) {
    PlannedText text = item.text();
    SequenceOutput.Builder output =
        SequenceOutput.newBuilder().setIndex(item.index()).setNumTokens(to - from);
    if (!options.hasOutputText() || options.getOutputText()) {
      output.setText(text.text(from, to));
    }
    for (int i = from; i < to; i++) {
      if (options.getOutputTokenIds()) {
        output.addTokenIds(text.tokens()[i]);
      }
      if (options.getOutputLogprobs()) {
        output.addLogprobs(Logprobs.of(text.tokens(), i)).addRanks(1);
      }
      if (options.getOutputCandidates().getTopN() > 0) {
        output.addCandidateTokens(
            candidates(text.tokens(), i, options.getOutputCandidates().getTopN()));
      }
    }
    if (!item.finish().isEmpty()) {
      output.setFinishInfo(finish(generation, item));
    }
    return output.build();
  }

  private static CandidateTokenInfo candidates(int[] tokens, int place, int count) {
    CandidateTokenInfo.Builder candidates = CandidateTokenInfo.newBuilder();
    for (int token : Logprobs.candidates(tokens, place, count)) {
      int rank = candidates.getTokensCount();
      candidates.addTokens(
          CandidateTokenInfo.TokenInfo.newBuilder()
              .setId(token)
              .setLogprob(Logprobs.of(tokens, place, rank))
              .setRank(rank + 1));
    }
    return candidates.build();
  }

  private static FinishInfo finish(Generation generation, Generation.Item item) {
    FinishInfo.Builder info = FinishInfo.newBuilder().setNumOutputTokens(item.generated());
    PlannedText text = item.text();
    switch (item.finish()) {
      case "length" -> info.setFinishReason(FinishInfo.FinishReason.LENGTH);
      case "stop" -> {
        info.setFinishReason(FinishInfo.FinishReason.STOP);
        if (text.matchedStop() != null) {
          info.setStopString(text.matchedStop());
        } else if (text.matchedToken() != null) {
          info.setStopTokenId(text.matchedToken());
        } else {
          info.setEosTokenId(ModelFacts.END_OF_TEXT);
        }
      }
      default -> info.setFinishReason(FinishInfo.FinishReason.ABORTED);
    }
    if (generation.handOff() instanceof ObjectNode params) {
      info.setKvTransferParams(Structs.of(params));
    }
    return info.build();
  }
}
