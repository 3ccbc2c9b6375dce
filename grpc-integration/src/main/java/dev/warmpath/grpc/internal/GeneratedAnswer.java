package dev.warmpath.grpc.internal;

import dev.warmpath.api.StreamEvent;
import dev.warmpath.api.Usage;
import dev.warmpath.transport.PromptTokens;
import dev.warmpath.worker.EngineKind;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** An OpenAI answer put together from a service's tokens. */
final class GeneratedAnswer<R> implements Answer<R> {
  private final WireReader<R> reader;
  private final Generation generation;
  private final @Nullable PromptTokens tokens;
  private final boolean decodes;
  private final Set<Integer> silent;
  private final OpenAiWriter writer;
  private final Map<Integer, ChoiceText> choices = new TreeMap<>();
  private final Map<Integer, StringBuilder> texts = new TreeMap<>();
  private final Map<Integer, List<Delta.Logprob>> logprobs = new TreeMap<>();

  /**
   * Creates an answer.
   *
   * @param tokens the prompt's, or null where there are none
   * @param decodes whether the client turns tokens into text
   * @param rid names the answer
   * @param createdSeconds when it was asked for, in seconds since 1970
   */
  GeneratedAnswer(
      WireReader<R> reader,
      Generation generation,
      @Nullable PromptTokens tokens,
      boolean decodes,
      ModelFacts facts,
      EngineKind engine,
      String rid,
      long createdSeconds) {
    this.reader = reader;
    this.generation = generation;
    this.tokens = tokens;
    this.decodes = decodes;
    this.silent = silent(generation.sampling(), facts);
    this.writer = new OpenAiWriter(generation, tokens, engine, rid, createdSeconds);
  }

  /** Tokens that end an answer stay out of its text, unless it is asked to have them. */
  private static Set<Integer> silent(Sampling sampling, ModelFacts facts) {
    if (sampling.includeStop()) {
      return Set.of();
    }
    Set<Integer> silent = new HashSet<>(sampling.stopTokenIds());
    if (!sampling.ignoreEos() && sampling.skipSpecialTokens()) {
      silent.addAll(facts.eosTokenIds());
    }
    return silent;
  }

  @Override
  public void take(R message, Consumer<StreamEvent> events) throws EngineErrorException {
    List<Delta> deltas = new ArrayList<>(1);
    reader.read(message, deltas::add);
    for (Delta delta : deltas) {
      boolean first = !choices.containsKey(delta.index());
      ChoiceText choice =
          choices.computeIfAbsent(
              delta.index(),
              index -> new ChoiceText(generation.sampling(), decodes ? tokens : null, silent));
      ChoiceText.Step step = choice.take(delta);
      if (generation.stream()) {
        writer.events(delta.index(), first, step, events);
      } else {
        texts.computeIfAbsent(delta.index(), index -> new StringBuilder()).append(step.text());
        logprobs.computeIfAbsent(delta.index(), index -> new ArrayList<>()).addAll(step.logprobs());
      }
    }
  }

  @Override
  public boolean satisfied() {
    return choices.size() == generation.sampling().n()
        && choices.values().stream().allMatch(choice -> choice.end() != null);
  }

  @Override
  public void end(Consumer<StreamEvent> events) throws EngineErrorException {
    if (!satisfied()) {
      throw new EngineErrorException(502, "the engine ended the call before the answer");
    }
    if (generation.stream() && generation.includeUsage()) {
      events.accept(writer.usageEvent(usage()));
    }
  }

  private Usage usage() {
    Usage told = reader.promptUsage();
    Integer prompt = told.promptTokens();
    PromptTokens known = tokens;
    return new Usage(
        prompt == null && known != null ? Integer.valueOf(known.size()) : prompt,
        told.cachedTokens(),
        choices.values().stream().mapToInt(ChoiceText::tokens).sum());
  }

  @Override
  public byte[] body() {
    List<OpenAiWriter.Choice> all = new ArrayList<>();
    choices.forEach(
        (index, choice) ->
            all.add(
                new OpenAiWriter.Choice(
                    index,
                    String.valueOf(texts.get(index)),
                    logprobs.getOrDefault(index, List.of()),
                    choice.end())));
    return writer.body(all, usage(), reader.kvTransferParams());
  }
}
