/**
 * A fake knowledge delivery node: {@link dev.warmpath.fake.kdn.FakeKdn}, and the model of its link.
 */
@NullMarked
package dev.warmpath.fake.kdn;

import org.jspecify.annotations.NullMarked;
