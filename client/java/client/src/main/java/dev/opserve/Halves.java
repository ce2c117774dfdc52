package dev.opserve;

/** Floating elements of two bytes: bits to floats exactly, floats to bits with rounding to nearest even. */
final class Halves {
  private Halves() {}

  static short toBfloat16(float value) {
    int bits = Float.floatToRawIntBits(value);
    if (Float.isNaN(value)) {
      return (short) (bits >>> 16 | 0x40);
    }
    return (short) (bits + 0x7FFF + (bits >>> 16 & 1) >>> 16);
  }

  static float fromBfloat16(short bits) {
    return Float.intBitsToFloat(bits << 16);
  }

  static short toFloat16(float value) {
    int bits = Float.floatToRawIntBits(value);
    int sign = bits >>> 16 & 0x8000;
    int magnitude = bits & 0x7FFF_FFFF;
    if (magnitude > 0x7F80_0000) { // NaN: quiet, with the payload's upper bits
      return (short) (sign | 0x7E00 | magnitude >>> 13 & 0x1FF);
    }
    if (magnitude >= 0x4780_0000) { // 2^16 and more
      return (short) (sign | 0x7C00);
    }
    if (magnitude < 0x3880_0000) { // below 2^-14: the sum's last bits are the subnormal's
      float sum = Math.abs(value) + 0.5f;
      return (short) (sign | Float.floatToRawIntBits(sum) - 0x3F00_0000);
    }
    int rounded = magnitude + 0xFFF + (magnitude >>> 13 & 1);
    return (short) (sign | rounded - 0x3800_0000 >>> 13);
  }

  static float fromFloat16(short bits) {
    int sign = (bits & 0x8000) << 16;
    int exponent = bits >>> 10 & 0x1F;
    int fraction = bits & 0x3FF;
    if (exponent == 0) {
      return Math.copySign(fraction * 0x1p-24f, Float.intBitsToFloat(sign));
    }
    int wide = exponent == 0x1F ? 0xFF : exponent + 112;
    return Float.intBitsToFloat(sign | wide << 23 | fraction << 13);
  }
}
