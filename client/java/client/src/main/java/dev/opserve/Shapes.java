package dev.opserve;

import java.util.Arrays;

/** Arithmetic of shapes. */
final class Shapes {
  private Shapes() {}

  /** The number of elements of a shape. IllegalArgumentException for a shape that no tensor has. */
  static long elements(long... shape) {
    long count = elementsOrNegative(shape);
    if (count < 0) {
      throw new IllegalArgumentException("shape: want extents >= 0 whose product is a long, got " + Arrays.toString(shape));
    }
    return count;
  }

  /** The same; negative where there is no such shape. */
  static long elementsOrNegative(long... shape) {
    boolean empty = false;
    for (long extent : shape) {
      if (extent < 0) {
        return -1;
      }
      empty |= extent == 0;
    }
    long count = 1;
    for (long extent : shape) {
      if (empty || Math.multiplyHigh(count, extent) != 0 || count * extent < 0) {
        return empty ? 0 : -1;
      }
      count *= extent;
    }
    return count;
  }

  /** IllegalArgumentException where a shape has not so many elements. */
  static void check(long elements, long... shape) {
    if (elements(shape) != elements) {
      throw new IllegalArgumentException("shape: want one of " + elements + " elements, got " + Arrays.toString(shape));
    }
  }
}
