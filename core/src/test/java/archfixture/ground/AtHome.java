package archfixture.ground;

import archfixture.ground.internal.Hidden;

/** Uses the internals of its own package. */
interface AtHome {
  Hidden own();
}
