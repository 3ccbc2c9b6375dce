package dev.warmpath.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.api.RequestTimings;
import dev.warmpath.api.RouteDecision;
import dev.warmpath.api.RouterListener;
import dev.warmpath.api.RouterListener.RequestEvent;
import dev.warmpath.api.RouterTracer.RequestTrace;
import dev.warmpath.dispatch.Listeners.Moment;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ListenersTest {
  private final List<String> heard = new ArrayList<>();
  private int made;

  private RequestEvent event() {
    made++;
    return new RequestEvent(
        1,
        "/v1/completions",
        null,
        false,
        null,
        0,
        Duration.ZERO,
        new RequestTimings(Duration.ZERO, Duration.ZERO, Duration.ZERO, Duration.ZERO, null),
        null,
        null,
        null,
        new RouteDecision(
            "p",
            1,
            new RouteDecision.PromptSummary(1, 1, 0, "opaque"),
            List.of(),
            null,
            List.of(),
            List.of(),
            null,
            null));
  }

  /** As requests do. */
  private void tell(Listeners listeners, Moment moment, RequestTrace trace) {
    if (moment.in(listeners.heard(trace))) {
      listeners.tell(moment, trace, event());
    }
  }

  /** Hears everything, and says what. */
  private RouterListener all() {
    return (RouterListener)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {RouterListener.class},
            (proxy, method, arguments) -> {
              heard.add(method.getName());
              return null;
            });
  }

  private class OnlyTheEnd implements RouterListener {
    @Override
    public void onFinished(RequestEvent event) {
      heard.add("the end");
    }
  }

  /** Overrides nothing itself. */
  private final class Heir extends OnlyTheEnd {}

  @ParameterizedTest
  @EnumSource
  void everyMomentHasItsCallback(Moment moment) {
    tell(new Listeners(List.of(all()), null), moment, RequestTrace.NONE);
    assertThat(heard).hasSize(1);
    assertThat(heard.get(0).replaceFirst("on", ""))
        .isEqualToIgnoringCase(moment.name().replace("_", ""));
    assertThat(made).isOne();
  }

  @ParameterizedTest
  @EnumSource
  void noEventIsMadeForNobody(Moment moment) {
    tell(
        new Listeners(List.of(new RouterListener() {}, new Heir()), null),
        moment,
        RequestTrace.NONE);
    assertThat(made).isEqualTo(moment == Moment.FINISHED ? 1 : 0);
    assertThat(heard).hasSize(made);
  }

  @Test
  void oneEventServesAllAndTheTrace() {
    RequestTrace trace =
        new RequestTrace() {
          @Override
          public void onFinished(RequestEvent event) {
            heard.add("trace");
          }
        };
    Listeners listeners = new Listeners(List.of(new OnlyTheEnd(), new Heir()), null);
    tell(listeners, Moment.FINISHED, trace);
    assertThat(heard).containsExactly("the end", "the end", "trace");
    assertThat(made).isOne();
    tell(listeners, Moment.ROUTED, trace);
    assertThat(made).as("the trace does nothing then").isOne();
  }

  @ParameterizedTest
  @EnumSource
  void aTraceIsToldEachMomentAtWhichItsClassDoesAnything(Moment moment) {
    RequestTrace trace =
        (RequestTrace)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {RequestTrace.class},
                (proxy, method, arguments) -> {
                  heard.add(method.getName());
                  return null;
                });
    tell(new Listeners(List.of(), null), moment, trace);
    assertThat(heard).hasSize(1);
    assertThat(heard.get(0).replaceFirst("on", ""))
        .isEqualToIgnoringCase(moment.name().replace("_", ""));
    assertThat(made).isOne();
  }

  @Test
  void whoThrowsDoesNotKeepOthersFromHearing() {
    RouterListener throwing =
        new RouterListener() {
          @Override
          public void onRouted(RequestEvent event) {
            throw new AssertionError("a bug");
          }
        };
    tell(new Listeners(List.of(throwing, all()), null), Moment.ROUTED, RequestTrace.NONE);
    assertThat(heard).containsExactly("onRouted");
  }
}
