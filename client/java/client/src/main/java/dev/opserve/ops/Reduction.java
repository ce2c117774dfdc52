// Written by client/catalogue/generate.py; changes are lost.
package dev.opserve.ops;

import java.util.Locale;

/** Values of the attribute reduction. */
public enum Reduction {
  /** The loss of each element. */
  NONE,
  /** Their mean. */
  MEAN,
  /** Their sum. */
  SUM,
  /** Their sum over the first extent. */
  BATCHMEAN;

  String choice() {
    return name().toLowerCase(Locale.ROOT);
  }
}
