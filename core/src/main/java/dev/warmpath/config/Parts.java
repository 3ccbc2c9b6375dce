package dev.warmpath.config;

import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Finds the modules that make what a configuration names. */
final class Parts {
  static final String HTTP = "dev.warmpath:warmpath-okhttp";
  static final String GRPC = "dev.warmpath:warmpath-grpc";
  static final String KUBERNETES = HTTP + " and io.fabric8:kubernetes-client";

  private Parts() {}

  /**
   * Makes a part.
   *
   * @param place the key that names it
   * @param needs what has to be on the class path
   * @throws ConfigException when it is not there, or takes none of the settings
   */
  static <T> T made(Place place, String needs, Function<PartMaker, @Nullable T> make) {
    try {
      T made = made(ServiceLoader.load(PartMaker.class), make);
      if (made == null) {
        // The application's own loader may not be the thread's.
        made = made(ServiceLoader.load(PartMaker.class, PartMaker.class.getClassLoader()), make);
      }
      if (made != null) {
        return made;
      }
    } catch (LinkageError | ServiceConfigurationError e) {
      throw place.error("takes " + needs + " on the class path: add what is missing", e);
    } catch (IllegalArgumentException e) {
      throw place.error("is wrong: " + e.getMessage(), e);
    }
    throw place.error("takes " + needs + " on the class path: add it");
  }

  private static <T> @Nullable T made(
      ServiceLoader<PartMaker> makers, Function<PartMaker, @Nullable T> make) {
    for (PartMaker maker : makers) {
      T made = make.apply(maker);
      if (made != null) {
        return made;
      }
    }
    return null;
  }
}
