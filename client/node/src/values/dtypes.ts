// Element types: their names, and the typed arrays that hold them.

/** The typed array that holds elements of each dtype. JavaScript has none of 16-bit floats: a Uint16Array has their bits. */
export interface ArrayOf {
  float32: Float32Array;
  float16: Uint16Array;
  bfloat16: Uint16Array;
  float64: Float64Array;
  int8: Int8Array;
  int16: Int16Array;
  int32: Int32Array;
  int64: BigInt64Array;
  uint8: Uint8Array;
  uint16: Uint16Array;
  uint32: Uint32Array;
  uint64: BigUint64Array;
  bool: Uint8Array;
}

/** The name of an element type. */
export type DType = keyof ArrayOf;

/** A typed array that can hold elements. */
export type TypedArray = ArrayOf[DType];

interface ArrayType {
  readonly BYTES_PER_ELEMENT: number;
  new (length: number): TypedArray;
  new (buffer: ArrayBufferLike, byteOffset: number, length: number): TypedArray;
}

const ARRAY_TYPES: Readonly<Record<DType, ArrayType>> = {
  float32: Float32Array,
  float16: Uint16Array,
  bfloat16: Uint16Array,
  float64: Float64Array,
  int8: Int8Array,
  int16: Int16Array,
  int32: Int32Array,
  int64: BigInt64Array,
  uint8: Uint8Array,
  uint16: Uint16Array,
  uint32: Uint32Array,
  uint64: BigUint64Array,
  bool: Uint8Array,
};

/** All names. */
export const DTYPES = Object.keys(ARRAY_TYPES) as readonly DType[];

/** Bytes of an element. */
export function itemSize(dtype: DType): number {
  return arrayTypeOf(dtype).BYTES_PER_ELEMENT;
}

/** The class of the typed array. TypeError for a name that is no dtype. */
export function arrayTypeOf(dtype: DType): ArrayType {
  if (!Object.hasOwn(ARRAY_TYPES, dtype))
    throw new TypeError(`dtype: want one of ${DTYPES.join(', ')}, got ${String(dtype)}`);
  return ARRAY_TYPES[dtype];
}

export function isFloating(dtype: DType): boolean {
  return dtype === 'float32' || dtype === 'float16' || dtype === 'bfloat16' || dtype === 'float64';
}

/** The dtype that a typed array has unless another one is named. TypeError for one that no server takes. */
export function dtypeOfArray(array: ArrayBufferView): DType {
  const name = Object.prototype.toString.call(array).slice('[object '.length, -'Array]'.length);
  const found = ARRAYS.get(name);
  if (found === undefined) throw new TypeError(`want a typed array of ${[...ARRAYS.keys()].join(', ')}, got ${name}`);
  return found;
}

// By what is before "Array" in the class's name. Float16Array is of newer versions of Node.
const ARRAYS = new Map<string, DType>([
  ['Float32', 'float32'],
  ['Float64', 'float64'],
  ['Float16', 'float16'],
  ['Int8', 'int8'],
  ['Int16', 'int16'],
  ['Int32', 'int32'],
  ['BigInt64', 'int64'],
  ['Uint8', 'uint8'],
  ['Uint8Clamped', 'uint8'],
  ['Uint16', 'uint16'],
  ['Uint32', 'uint32'],
  ['BigUint64', 'uint64'],
]);
