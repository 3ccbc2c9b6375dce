@NullMarked
package archfixture.first;

import org.jspecify.annotations.NullMarked;
