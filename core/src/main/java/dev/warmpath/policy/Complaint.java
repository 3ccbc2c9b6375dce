package dev.warmpath.policy;

import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logs the first failure of an application's hook: the rest would fill the log at request rate. */
final class Complaint {
  private static final Logger log = LoggerFactory.getLogger(Complaint.class);

  private final AtomicBoolean made = new AtomicBoolean();

  void about(String what, RuntimeException error) {
    if (!made.get() && made.compareAndSet(false, true)) {
      log.warn("{}; this is logged once", what, error);
    }
  }
}
