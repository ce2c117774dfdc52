// Written by client/catalogue/generate.py; changes are lost.
package dev.opserve.ops;

import java.util.Locale;

/** Values of the attribute cube_math_type. */
public enum CubeMathType {
  /** Compute in the dtype of the inputs. */
  KEEP_DTYPE,
  /** Float32 may be computed with fewer bits. */
  ALLOW_FP32_DOWN_PRECISION,
  /** Compute in float16. */
  USE_FP16,
  /** Compute in HFLOAT32. */
  USE_HF32;

  String choice() {
    return name().toLowerCase(Locale.ROOT);
  }
}
