package dev.warmpath.fake.scheduler;

import java.nio.file.Path;

/** Reads the names that timing models go by on a command line. */
final class LatencyPresets {
  private static final String CONSTANT = "constant:";
  private static final String TABLE = "table:";

  private LatencyPresets() {}

  static LatencyModel parse(String preset) {
    String text = preset.strip();
    if (text.startsWith(CONSTANT)) {
      return constant(preset, text.substring(CONSTANT.length()));
    }
    if (text.startsWith(TABLE) && text.length() > TABLE.length()) {
      return TableLatency.read(Path.of(text.substring(TABLE.length())));
    }
    return switch (text) {
      case "polynomial" -> LatencyModel.polynomial();
      case "instant" -> LatencyModel.instant();
      case "h100-llama-3.1-8b-fp8" -> PhysicalLatency.h100Llama8b();
      case "mi355x-qwen2.5-7b-fp8" -> PhysicalLatency.mi355xQwen7b();
      default -> throw unknown(preset);
    };
  }

  private static LatencyModel constant(String preset, String numbers) {
    double prefill = 0;
    double decode = 0;
    for (String part : numbers.split(",", -1)) {
      String[] pair = part.split("=", 2);
      double value = pair.length == 2 ? milliseconds(preset, pair[1]) : Double.NaN;
      switch (pair[0].strip()) {
        case "prefill" -> prefill = value;
        case "decode" -> decode = value;
        default -> throw unknown(preset);
      }
    }
    if (prefill >= 0 && decode >= 0) {
      return LatencyModel.constant(prefill, decode);
    }
    throw unknown(preset);
  }

  private static double milliseconds(String preset, String text) {
    try {
      return Double.parseDouble(text.strip());
    } catch (NumberFormatException e) {
      throw unknown(preset);
    }
  }

  private static IllegalArgumentException unknown(String preset) {
    return new IllegalArgumentException(
        "unknown timing '"
            + preset
            + "': expected polynomial, instant, constant:prefill=MS,decode=MS, table:FILE,"
            + " h100-llama-3.1-8b-fp8 or mi355x-qwen2.5-7b-fp8");
  }
}
