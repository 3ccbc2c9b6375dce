package dev.warmpath.fake.internal.grpc;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.proto.sglang.scheduler.AggregateMetrics;
import dev.warmpath.proto.sglang.scheduler.DisaggregationMetrics;
import dev.warmpath.proto.sglang.scheduler.GetLoadsResponse;
import dev.warmpath.proto.sglang.scheduler.MemoryMetrics;
import dev.warmpath.proto.sglang.scheduler.QueueMetrics;
import dev.warmpath.proto.sglang.scheduler.SchedulerLoad;

/** What {@code GET /v1/loads} tells, as messages. */
final class SchedulerLoads {
  private SchedulerLoads() {}

  static GetLoadsResponse of(JsonNode body) {
    GetLoadsResponse.Builder response =
        GetLoadsResponse.newBuilder()
            .setTimestamp(body.path("timestamp").asText())
            .setVersion(body.path("version").asText())
            .setDpRankCount(body.path("loads").size());
    body.path("loads").forEach(load -> response.addLoads(load(load)));
    return response.setAggregate(aggregate(response)).build();
  }

  private static SchedulerLoad load(JsonNode load) {
    int running = load.path("num_running_reqs").asInt();
    int waiting = load.path("num_waiting_reqs").asInt();
    SchedulerLoad.Builder told =
        SchedulerLoad.newBuilder()
            .setDpRank(load.path("dp_rank").asInt())
            .setNumRunningReqs(running)
            .setNumWaitingReqs(waiting)
            .setNumTotalReqs(running + waiting)
            .setNumUsedTokens(load.path("num_used_tokens").asInt())
            .setMaxTotalNumTokens(load.path("max_total_num_tokens").asInt())
            .setTokenUsage(load.path("token_usage").asDouble())
            .setGenThroughput(load.path("gen_throughput").asDouble())
            .setCacheHitRate(load.path("cache_hit_rate").asDouble())
            .setUtilization(load.path("utilization").asDouble())
            .setMaxRunningRequests(load.path("max_running_requests").asInt())
            .setNumWaitingUncachedTokens(load.path("num_waiting_uncached_tokens").asInt());
    if (load.has("memory")) {
      told.setMemory(
          MemoryMetrics.newBuilder()
              .setTokenCapacity(load.path("memory").path("token_capacity").asInt()));
    }
    if (load.has("disaggregation")) {
      told.setDisaggregation(disaggregation(load.path("disaggregation")));
    }
    if (load.has("queues")) {
      JsonNode queues = load.path("queues");
      told.setQueues(
          QueueMetrics.newBuilder()
              .setWaiting(queues.path("waiting").asInt())
              .setGrammar(queues.path("grammar").asInt())
              .setPaused(queues.path("paused").asInt())
              .setRetracted(queues.path("retracted").asInt()));
    }
    return told.build();
  }

  /** The servicer looks for the older name of the first queue, which is not there any more. */
  private static DisaggregationMetrics disaggregation(JsonNode section) {
    return DisaggregationMetrics.newBuilder()
        .setMode(section.path("mode").asText())
        .setPrefillPreallocQueueReqs(section.path("prefill_prealloc_queue_reqs").asInt())
        .setPrefillInflightQueueReqs(section.path("prefill_inflight_queue_reqs").asInt())
        .setDecodePreallocQueueReqs(section.path("decode_prealloc_queue_reqs").asInt())
        .setDecodeTransferQueueReqs(section.path("decode_transfer_queue_reqs").asInt())
        .setDecodeRetractedQueueReqs(section.path("decode_retracted_queue_reqs").asInt())
        .build();
  }

  private static AggregateMetrics aggregate(GetLoadsResponse.Builder response) {
    AggregateMetrics.Builder sum = AggregateMetrics.newBuilder();
    double usage = 0;
    double throughput = 0;
    double utilization = 0;
    for (SchedulerLoad load : response.getLoadsList()) {
      sum.setTotalRunningReqs(sum.getTotalRunningReqs() + load.getNumRunningReqs());
      sum.setTotalWaitingReqs(sum.getTotalWaitingReqs() + load.getNumWaitingReqs());
      sum.setTotalReqs(sum.getTotalReqs() + load.getNumTotalReqs());
      usage += load.getTokenUsage();
      throughput += load.getGenThroughput();
      utilization += load.getUtilization();
    }
    int ranks = Math.max(1, response.getLoadsCount());
    return sum.setAvgTokenUsage(usage / ranks)
        .setAvgThroughput(throughput / ranks)
        .setAvgUtilization(utilization / ranks)
        .build();
  }
}
