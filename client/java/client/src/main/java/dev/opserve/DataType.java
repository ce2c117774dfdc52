package dev.opserve;

import java.util.Locale;

/** The type of a tensor's elements. */
public enum DataType {
  /** IEEE 754 binary32, a {@code float}. */
  FLOAT32(4),
  /** IEEE 754 binary16. */
  FLOAT16(2),
  /** The upper half of a binary32. */
  BFLOAT16(2),
  /** IEEE 754 binary64, a {@code double}. */
  FLOAT64(8),
  /** A {@code byte}. */
  INT8(1),
  /** A {@code short}. */
  INT16(2),
  /** An {@code int}. */
  INT32(4),
  /** A {@code long}. */
  INT64(8),
  /** One byte without a sign. */
  UINT8(1),
  /** Two bytes without a sign. */
  UINT16(2),
  /** Four bytes without a sign. */
  UINT32(4),
  /** Eight bytes without a sign. */
  UINT64(8),
  /** One byte, 0 or 1. */
  BOOL(1);

  private static final DataType[] VALUES = values();

  private final int byteSize;

  DataType(int byteSize) {
    this.byteSize = byteSize;
  }

  /**
   * The size of an element.
   *
   * @return bytes
   */
  public int byteSize() {
    return byteSize;
  }

  /** The protocol's enum has the same names, and numbers from 1 on in the same order. */
  dev.opserve.v1.DataType toProto() {
    return dev.opserve.v1.DataType.forNumber(ordinal() + 1);
  }

  /** An answer's. InternalException for one that is not known; {@code what} says whose it is. */
  static DataType fromProto(int number, String what) {
    if (number < 1 || number > VALUES.length) {
      throw Errors.badAnswer(what + " has the dtype " + number);
    }
    return VALUES[number - 1];
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
