@NullMarked
package archfixture.ground;

import org.jspecify.annotations.NullMarked;
