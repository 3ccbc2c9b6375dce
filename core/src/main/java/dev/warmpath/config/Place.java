package dev.warmpath.config;

/**
 * Where a value stands, for messages.
 *
 * @param file what the configuration is called
 * @param key the dotted path of the key; empty for the whole
 */
record Place(String file, String key) {
  Place in(String name) {
    return new Place(file, key.isEmpty() ? name : key + "." + name);
  }

  Place at(int index) {
    return new Place(file, key + "[" + index + "]");
  }

  ConfigException error(String problem) {
    return new ConfigException(message(problem));
  }

  ConfigException error(String problem, Throwable cause) {
    return new ConfigException(message(problem), cause);
  }

  private String message(String problem) {
    return key.isEmpty() ? file + ": " + problem : file + ": " + key + " " + problem;
  }
}
