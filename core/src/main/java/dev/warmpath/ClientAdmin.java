package dev.warmpath;

import dev.warmpath.index.kv.KvEvents;
import dev.warmpath.knowledge.KnowledgeRouting;
import dev.warmpath.transport.AdminCommand;
import dev.warmpath.transport.AdminReply;
import dev.warmpath.transport.CacheLevel;
import dev.warmpath.transport.Transport;
import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerRank;
import dev.warmpath.worker.WorkerRegistry;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** How a client's parts follow admin calls. */
record ClientAdmin(
    WorkerRegistry registry,
    List<Transport> transports,
    IndexFeed feed,
    @Nullable KvEvents events,
    @Nullable KnowledgeRouting knowledge,
    Executor executor)
    implements Admin.AdminPort {

  @Override
  public List<Worker> workers() {
    return registry.current().workers();
  }

  @Override
  public AdminReply send(Worker worker, AdminCommand command, Duration timeout) {
    for (Transport transport : transports) {
      if (transport.schemes().contains(worker.id().scheme())) {
        return transport.admin(worker, command, timeout);
      }
    }
    return AdminReply.of(
        AdminReply.Outcome.UNREACHABLE, "no transport serves " + worker.id().scheme() + " workers");
  }

  @Override
  public void emptied(Worker worker, Collection<CacheLevel> levels) {
    if (knowledge != null && !levels.isEmpty()) {
      worker.ranks().forEach(knowledge::emptied);
    }
    // What the client guesses of caches has no tiers: it is what need not be computed at all.
    if (levels.contains(CacheLevel.L1)) {
      for (WorkerRank rank : worker.ranks()) {
        feed.emptied(rank, told(rank));
      }
    }
  }

  private boolean told(WorkerRank rank) {
    return events != null
        && events.stats().ranks().stream()
            .anyMatch(each -> each.connected() && each.rank().equals(rank.toString()));
  }

  @Override
  public void routing(Worker worker, boolean on) {
    boolean unused = registry.drain(worker.id(), !on);
  }
}
