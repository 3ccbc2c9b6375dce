package dev.warmpath.index;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;

class HolderIdsTest {
  @Test
  void takesApartWhatItJoined() {
    long most = (1L << 44) - 1;

    assertThat(HolderIds.slot(HolderIds.of(7, 5))).isEqualTo(5);
    assertThat(HolderIds.epoch(HolderIds.of(7, 5))).isEqualTo(7);
    assertThat(HolderIds.slot(HolderIds.of(most, HolderIds.MAX_SLOTS - 1)))
        .isEqualTo(HolderIds.MAX_SLOTS - 1);
    assertThat(HolderIds.epoch(HolderIds.of(most, HolderIds.MAX_SLOTS - 1))).isEqualTo(most);
  }

  @Test
  void rejectsASlotThatDoesNotFit() {
    assertThatIllegalArgumentException().isThrownBy(() -> HolderIds.of(1, -1));
    assertThatIllegalArgumentException().isThrownBy(() -> HolderIds.of(1, HolderIds.MAX_SLOTS));
  }
}
