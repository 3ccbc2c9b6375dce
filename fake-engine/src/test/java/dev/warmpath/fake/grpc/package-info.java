@NullMarked
package dev.warmpath.fake.grpc;

import org.jspecify.annotations.NullMarked;
