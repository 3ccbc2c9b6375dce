package dev.warmpath.fake.scheduler;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.fake.scheduler.HandoffRegistry.Destination;
import dev.warmpath.fake.scheduler.HandoffRegistry.Phase;
import org.junit.jupiter.api.Test;

class HandoffRegistryTest {
  private final HandoffRegistry<String> registry = new HandoffRegistry<>();

  @Test
  void sourceIsHeldAtItsEndAndForgottenOnce() {
    registry.registerSource(7, 1);

    assertThat(registry.hold(2, "other")).isNull();
    assertThat(requireNonNull(registry.hold(1, "kv")).handoffId()).isEqualTo(7);
    assertThat(requireNonNull(registry.removeSource(7)).held()).isEqualTo("kv");
    assertThat(registry.removeSource(7)).isNull();
    assertThat(registry.isEmpty()).isTrue();
  }

  @Test
  void headHasOneTurnPerChangeOfCapacity() {
    registry.addPending(7, 1, "a");
    registry.addPending(8, 2, "b");

    assertThat(requireNonNull(registry.takeTurn()).handoffId()).isEqualTo(7);
    assertThat(registry.takeTurn()).isNull();
    assertThat(registry.hasTurn()).isFalse();
    registry.capacityFreed();
    Destination<String> head = requireNonNull(registry.takeTurn());
    registry.reserved(head);

    assertThat(head.phase()).isEqualTo(Phase.RESERVED);
    assertThat(requireNonNull(registry.takeTurn()).state()).isEqualTo("b");
  }

  @Test
  void cancellingThePendingHeadGivesTheNextItsTurn() {
    registry.addPending(7, 1, "a");
    registry.addPending(8, 2, "b");
    registry.takeTurn();

    assertThat(registry.removeDestinationOf(1)).isNotNull();

    assertThat(requireNonNull(registry.takeTurn()).handoffId()).isEqualTo(8);
  }

  @Test
  void onlyAReservedDestinationIsActivatedAndOnlyOnce() {
    registry.addPending(7, 1, "a");
    assertThat(registry.activate(7)).isNull();
    registry.reserved(requireNonNull(registry.takeTurn()));

    assertThat(registry.activate(7)).isNotNull();
    assertThat(registry.activate(7)).isNull();
    assertThat(requireNonNull(registry.removeDestination(7)).phase()).isEqualTo(Phase.ACTIVE);
    assertThat(registry.removeDestination(7)).isNull();
  }

  @Test
  void idsInUseAreRefusedPerSide() {
    registry.registerSource(7, 1);
    registry.addPending(7, 2, "a");

    assertThatThrownBy(() -> registry.registerSource(7, 3))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("handoff 7");
    assertThatThrownBy(() -> registry.addPending(7, 3, "b"))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
