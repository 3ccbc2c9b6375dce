package dev.warmpath.okhttp;

import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import okhttp3.Call;

/**
 * Notices that a call was cancelled of which OkHttp carries nothing at the time, so that it has
 * nothing to break off. A daemon thread looks every {@value #PERIOD_MILLIS} ms while there are such
 * calls, and ends a second after the last.
 */
final class CancelWatch {
  private static final long PERIOD_MILLIS = 10;
  private static final ScheduledThreadPoolExecutor LOOKS = looks();

  private CancelWatch() {}

  private static ScheduledThreadPoolExecutor looks() {
    ScheduledThreadPoolExecutor looks =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread thread = new Thread(task, "warmpath-okhttp-cancels");
              thread.setDaemon(true);
              return thread;
            });
    looks.setRemoveOnCancelPolicy(true);
    looks.setKeepAliveTime(1, TimeUnit.SECONDS);
    looks.allowCoreThreadTimeOut(true);
    return looks;
  }

  /**
   * Begins to look.
   *
   * @param onCancelled run when the call is cancelled, maybe more than once; must not block
   * @return ends the watch when it is cancelled
   */
  static Future<?> of(Call call, Runnable onCancelled) {
    return LOOKS.scheduleWithFixedDelay(
        () -> {
          if (call.isCanceled()) {
            onCancelled.run();
          }
        },
        PERIOD_MILLIS,
        PERIOD_MILLIS,
        TimeUnit.MILLISECONDS);
  }
}
