/**
 * UMBP, the block index that ROCm's mori keeps for a fleet: {@link
 * dev.warmpath.grpc.umbp.UmbpClient} asks its master which workers hold a prompt's blocks.
 */
@NullMarked
package dev.warmpath.grpc.umbp;

import org.jspecify.annotations.NullMarked;
