package archfixture.first;

import archfixture.ground.internal.Hidden;

/** Uses the internals of a floor below. */
interface ReachesIn {
  Hidden foreign();
}
