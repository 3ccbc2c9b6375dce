package dev.warmpath.pd;

import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerRole;
import java.net.URI;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What bears on pairing a worker: what it reports, and the labels of its configuration ({@code
 * ;pd=nixl;bootstrap-port=8998} and so on).
 */
final class PdTraits {
  private final Worker worker;
  private final @Nullable PdProtocol protocol;
  private final @Nullable String refusal;

  private PdTraits(Worker worker, @Nullable PdProtocol protocol, @Nullable String refusal) {
    this.worker = worker;
    this.protocol = protocol;
    this.refusal = refusal;
  }

  /** Reads a prefill or decode worker's traits. */
  static PdTraits of(Worker worker) {
    String configured = worker.spec().labels().get("pd");
    String named = configured != null ? configured : worker.capabilities().transfer().get("pd");
    PdProtocol protocol = PdProtocols.of(worker.engine(), named);
    if (protocol == null) {
      return new PdTraits(
          worker,
          null,
          named == null
              ? "its engine is not known yet: configure ;engine= or ;pd="
              : "pd=" + named + " is no protocol of " + worker.engine().label() + " workers");
    }
    PdTraits traits = new PdTraits(worker, protocol, null);
    WorkerRole told = worker.capabilities().role();
    if (told != null && contradicts(worker, told)) {
      return new PdTraits(
          worker,
          protocol,
          "it is configured as " + worker.role().label() + " and says that it is " + told.label());
    }
    String lacking =
        worker.role() == WorkerRole.PREFILL
            ? protocol.prefillLacks(traits)
            : protocol.decodeLacks(traits);
    return lacking == null ? traits : new PdTraits(worker, protocol, lacking);
  }

  /**
   * Whether a worker says that it can't do what it is configured for. SGLang tells one that is
   * apart from one that is not; of the others' regular workers some take both parts.
   */
  private static boolean contradicts(Worker worker, WorkerRole told) {
    return told == WorkerRole.REGULAR
        ? worker.engine() == EngineKind.SGLANG
        : told != worker.role();
  }

  Worker worker() {
    return worker;
  }

  /** The protocol it speaks. */
  PdProtocol protocol() {
    return Objects.requireNonNull(protocol);
  }

  /** Why it can't be part of any pair; null where it can. */
  @Nullable String refusal() {
    return refusal;
  }

  /** Why a decode worker can't be fed by this prefill worker; null where it can. */
  @Nullable String incompatible(PdTraits decode) {
    if (protocol != decode.protocol) {
      return "speaks "
          + (protocol == null ? "nothing known" : protocol.name())
          + " and not "
          + (decode.protocol == null ? "anything known" : decode.protocol.name());
    }
    String transport = differ("kv-transport", decode);
    if (transport != null) {
      return transport;
    }
    String dtype = differ("kv-dtype", decode);
    if (dtype != null) {
      return dtype;
    }
    Integer mine = worker.blockSize();
    Integer other = decode.worker.blockSize();
    return mine != null && other != null && !mine.equals(other)
        ? "page size " + mine + " and not " + other
        : null;
  }

  private @Nullable String differ(String label, PdTraits decode) {
    String mine = label(label);
    String other = decode.label(label);
    return mine != null && other != null && !mine.equalsIgnoreCase(other)
        ? label + " " + mine + " and not " + other
        : null;
  }

  /** A label of its configuration, or else what the worker says under that name, or null. */
  @Nullable String label(String name) {
    String configured = worker.spec().labels().get(name);
    return configured != null ? configured : worker.capabilities().transfer().get(name);
  }

  String label(String name, String otherwise) {
    String value = label(name);
    return value == null ? otherwise : value;
  }

  /** A number among the labels, or null where it is absent or none. */
  @Nullable Integer number(String name) {
    String value = label(name);
    if (value == null) {
      return null;
    }
    try {
      int parsed = Integer.parseInt(value.trim());
      return parsed > 0 ? parsed : null;
    } catch (NumberFormatException e) {
      return null;
    }
  }

  /** How many ranks it has; 1 where it names none. */
  int ranks() {
    return worker.ranks().size();
  }

  /** Its host as it stands in a URL: an IPv6 literal in brackets. */
  String host() {
    String configured = label("kv-host");
    if (configured != null) {
      return configured;
    }
    URI uri = worker.id().uri();
    String host = uri.getHost();
    if (host != null) {
      return host;
    }
    String authority = uri.getRawAuthority();
    return authority.substring(0, authority.lastIndexOf(':'));
  }

  /** Its host where engines want an address without brackets. */
  String address() {
    String host = host();
    return host.startsWith("[") && host.endsWith("]") ? host.substring(1, host.length() - 1) : host;
  }
}
