package dev.warmpath.transport;

import java.util.List;

/** Something that an operator wants of an engine. Engines differ in what they can do. */
public sealed interface AdminCommand {
  /** The command in a word, for results and logs. */
  String name();

  /**
   * Empties a tier of the KV cache.
   *
   * @param level which one
   */
  record Flush(CacheLevel level) implements AdminCommand {
    @Override
    public String name() {
      return "flush";
    }
  }

  /**
   * Ends some requests. Blank ids are left out; when none is left nothing is sent, since engines
   * take an empty list for all.
   *
   * @param ids what the engine knows the requests by
   */
  record Abort(List<String> ids) implements AdminCommand {
    /** Leaves out what names no request. */
    public Abort {
      ids = ids.stream().map(String::strip).filter(id -> !id.isEmpty()).distinct().toList();
    }

    @Override
    public String name() {
      return "abort";
    }
  }

  /** Ends every request of a worker, whoever sent it. */
  record AbortAll() implements AdminCommand {
    @Override
    public String name() {
      return "abort all";
    }
  }

  /**
   * Stops generating.
   *
   * @param mode what becomes of what runs
   */
  record Pause(PauseMode mode) implements AdminCommand {
    @Override
    public String name() {
      return "pause";
    }
  }

  /** Generates again. */
  record Resume() implements AdminCommand {
    @Override
    public String name() {
      return "resume";
    }
  }

  /** Begins to profile, as the engine was configured to. */
  record StartProfile() implements AdminCommand {
    @Override
    public String name() {
      return "start profile";
    }
  }

  /** Ends profiling and writes what was found. */
  record StopProfile() implements AdminCommand {
    @Override
    public String name() {
      return "stop profile";
    }
  }
}
