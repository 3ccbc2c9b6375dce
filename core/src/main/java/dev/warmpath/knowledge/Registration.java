package dev.warmpath.knowledge;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Instant;
import java.util.List;

/**
 * What a node or target tells of itself when it registers.
 *
 * @param id its id
 * @param host where it listens
 * @param port where it listens
 * @param endpoints paths that it serves; kept for views
 * @param tags free words; kept for views
 * @param weight kept for views
 * @param meta anything more; not to be changed
 * @param since when it first registered
 */
record Registration(
    String id,
    String host,
    int port,
    List<String> endpoints,
    List<String> tags,
    double weight,
    ObjectNode meta,
    Instant since) {

  Registration {
    endpoints = List.copyOf(endpoints);
    tags = List.copyOf(tags);
  }

  Registration since(Instant first) {
    return new Registration(id, host, port, endpoints, tags, weight, meta, first);
  }

  Registration with(ObjectNode other) {
    return new Registration(id, host, port, endpoints, tags, weight, other, since);
  }
}
