// Written by client/catalogue/generate.py; changes are lost.
package dev.opserve.ops;

import java.util.Locale;

/** Values of the attribute approximate. */
public enum Approximate {
  /** By the normal distribution function. */
  NONE,
  /** By the hyperbolic tangent. */
  TANH;

  String choice() {
    return name().toLowerCase(Locale.ROOT);
  }
}
