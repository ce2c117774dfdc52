// 16-bit floats: numbers to bits, rounded to nearest even, once, and back.

interface Format {
  readonly mantissaBits: number;
  readonly minimumExponent: number; // of normal numbers
  readonly infinity: number; // its bits
}

const FLOAT16: Format = { mantissaBits: 10, minimumExponent: -14, infinity: 0x7c00 };
const BFLOAT16: Format = { mantissaBits: 7, minimumExponent: -126, infinity: 0x7f80 };
const SIGN = 0x8000;

const scratch = new DataView(new ArrayBuffer(8));

function roundedToEven(value: number): number {
  const below = Math.floor(value);
  const rest = value - below;
  return rest > 0.5 || (rest === 0.5 && below % 2 === 1) ? below + 1 : below;
}

function bitsOf(value: number, { mantissaBits, minimumExponent, infinity }: Format): number {
  if (Number.isNaN(value)) return infinity | (1 << (mantissaBits - 1));
  scratch.setFloat64(0, value);
  const high = scratch.getUint32(0);
  const sign = high >>> 31 === 1 ? SIGN : 0;
  const magnitude = Math.abs(value);
  if (magnitude === Infinity) return sign | infinity;
  const exponent = Math.max(((high >>> 20) & 0x7ff) - 1023, minimumExponent);
  const units = roundedToEven(magnitude * 2 ** (mantissaBits - exponent)); // the scaling is exact
  return sign | Math.min(((exponent - minimumExponent) << mantissaBits) + units, infinity);
}

function numberOf(bits: number, { mantissaBits, minimumExponent, infinity }: Format): number {
  const magnitude = bits & 0x7fff;
  const sign = bits & SIGN ? -1 : 1;
  if (magnitude >= infinity) return magnitude === infinity ? sign * Infinity : NaN;
  const exponent = magnitude >>> mantissaBits;
  const mantissa = magnitude & ((1 << mantissaBits) - 1);
  const units = exponent === 0 ? mantissa : mantissa + (1 << mantissaBits);
  return sign * units * 2 ** (Math.max(exponent, 1) - 1 + minimumExponent - mantissaBits);
}

function allBits(values: ArrayLike<number>, format: Format): Uint16Array {
  const bits = new Uint16Array(values.length);
  for (let i = 0; i < bits.length; i++) bits[i] = bitsOf(values[i]!, format);
  return bits;
}

function allNumbers(bits: ArrayLike<number>, format: Format): Float32Array {
  const values = new Float32Array(bits.length);
  for (let i = 0; i < values.length; i++) values[i] = numberOf(bits[i]!, format);
  return values;
}

/** The bits of float16 numbers. */
export function toFloat16(values: ArrayLike<number>): Uint16Array {
  return allBits(values, FLOAT16);
}

/** The numbers that bits of float16 stand for. */
export function fromFloat16(bits: ArrayLike<number>): Float32Array {
  return allNumbers(bits, FLOAT16);
}

/** The bits of bfloat16 numbers. */
export function toBfloat16(values: ArrayLike<number>): Uint16Array {
  return allBits(values, BFLOAT16);
}

/** The numbers that bits of bfloat16 stand for. */
export function fromBfloat16(bits: ArrayLike<number>): Float32Array {
  const words = new Uint32Array(bits.length);
  for (let i = 0; i < words.length; i++) words[i] = bits[i]! << 16;
  return new Float32Array(words.buffer);
}
