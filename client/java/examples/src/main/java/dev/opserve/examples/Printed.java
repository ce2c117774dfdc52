package dev.opserve.examples;

import dev.opserve.Tensor;
import java.util.Locale;

/** What the examples print. */
final class Printed {
  private Printed() {}

  static void print(String name, Tensor tensor, String format) {
    StringBuilder line = new StringBuilder(name);
    for (float element : tensor.toFloats()) {
      line.append(' ').append(String.format(Locale.ROOT, format, element));
    }
    System.out.println(line);
  }
}
