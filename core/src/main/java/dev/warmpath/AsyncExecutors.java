package dev.warmpath;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/** The executor of asynchronous calls where the application brings none. */
final class AsyncExecutors {
  private AsyncExecutors() {}

  /**
   * A virtual thread per call where the JDK has them (21 and later), else a cached pool of daemon
   * threads.
   */
  static ExecutorService create() {
    try {
      MethodHandle virtual =
          MethodHandles.publicLookup()
              .findStatic(
                  Executors.class,
                  "newVirtualThreadPerTaskExecutor",
                  MethodType.methodType(ExecutorService.class));
      return (ExecutorService) virtual.invokeExact();
    } catch (Throwable notThere) {
      AtomicInteger number = new AtomicInteger();
      return Executors.newCachedThreadPool(
          task -> {
            Thread thread = new Thread(task, "warmpath-async-" + number.incrementAndGet());
            thread.setDaemon(true);
            return thread;
          });
    }
  }
}
