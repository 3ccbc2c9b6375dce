@NullMarked
package archfixture.ground.internal;

import org.jspecify.annotations.NullMarked;
