package archfixture.ground;

import archfixture.first.Tidy;

/** Uses the floor above. */
interface LooksUp {
  Tidy up();
}
