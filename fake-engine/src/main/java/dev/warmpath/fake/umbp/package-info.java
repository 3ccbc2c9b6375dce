/**
 * A fake UMBP master, and how fake engines tell it of their caches: {@link
 * dev.warmpath.fake.umbp.FakeUmbpMaster}.
 */
@NullMarked
package dev.warmpath.fake.umbp;

import org.jspecify.annotations.NullMarked;
