// Tensors: elements in a typed array, with a dtype and a shape; and what may be given in their place.

import { bytesOf, littleEndian } from './bytes.js';
import { arrayTypeOf, dtypeOfArray, isFloating, itemSize } from './dtypes.js';
import type { ArrayOf, DType, TypedArray } from './dtypes.js';
import { fromBfloat16, fromFloat16, toBfloat16, toFloat16 } from './halves.js';

/** Numbers in lists, however deep. */
export type Nested<T> = readonly (T | Nested<T>)[];

/**
 * What an operator takes as an input: a tensor; a typed array, which has one dimension; or numbers in lists or one number, of which
 * `number`s take the dtype of the floating tensors beside them, `bigint`s are int64 and `boolean`s are bool.
 */
export type Input = Tensor | TypedArray | Scalar | Nested<number> | Nested<bigint> | Nested<boolean>;
export type Scalar = number | bigint | boolean;

/** A tensor without elements, for `plan`. */
export interface Spec {
  readonly dtype?: DType;
  readonly shape: readonly number[];
}

/** How a view looks into the array: elements from one neighbour to the next along each dimension, and to the first one. */
export interface View {
  readonly strides?: readonly number[];
  readonly offset?: number;
}

/** Elements with a dtype and a shape. It looks into the memory that it was made of, and copies nothing. */
export class Tensor<D extends DType = DType> {
  readonly #bytes: Uint8Array; // in this machine's order
  #data: ArrayOf[D] | undefined;

  /** @internal */
  constructor(
    readonly dtype: D,
    readonly shape: readonly number[],
    bytes: Uint8Array,
    readonly view: View = {},
  ) {
    this.#bytes = bytes;
  }

  /** How many elements it has. */
  get size(): number {
    return sizeOf(this.shape);
  }

  /**
   * The elements, one after the other. Of a result it looks into the answer where the elements lie aligned in it, and is a copy, made
   * once, elsewhere. Of a view it is the array that the view looks into.
   */
  get data(): ArrayOf[D] {
    return (this.#data ??= alignedArray(this.dtype, this.#bytes) as ArrayOf[D]);
  }

  /** The elements' bytes, never copied. */
  get bytes(): Uint8Array {
    return this.#bytes;
  }

  /** `data`, where the tensor has this dtype. TypeError for another one. */
  as<Wanted extends DType>(dtype: Wanted): ArrayOf[Wanted] {
    if ((this.dtype as DType) !== dtype) throw new TypeError(`dtype: want ${dtype}, got ${this.dtype}`);
    return this.data as unknown as ArrayOf[Wanted];
  }

  /** The elements of a floating tensor as numbers of single precision; those of float16 and bfloat16 are converted. */
  toFloat32(): Float32Array {
    if (this.dtype === 'float32') return this.data as Float32Array;
    if (this.dtype === 'float16') return fromFloat16(this.data as Uint16Array);
    if (this.dtype === 'bfloat16') return fromBfloat16(this.data as Uint16Array);
    if (this.dtype === 'float64') return Float32Array.from(this.data as Float64Array);
    throw new TypeError(`dtype: want a floating one, got ${this.dtype}`);
  }

  toString(): string {
    return `Tensor ${this.dtype}[${this.shape.join(', ')}]`;
  }
}

/** A tensor of a typed array, which has one dimension unless `shape` says otherwise. `dtype` is needed for the bits of float16 and
 * bfloat16 in a Uint16Array, and for bool in a Uint8Array. */
export function tensor<D extends DType = DType>(
  values: TypedArray,
  shape?: readonly number[],
  dtype?: D,
  view?: View,
): Tensor<D>;
/** A tensor of numbers, in the shape of their lists unless `shape` says otherwise: float32 of `number`s, int64 of `bigint`s, bool of
 * `boolean`s, unless `dtype` says otherwise. */
export function tensor<D extends DType = DType>(
  values: Scalar | Nested<number> | Nested<bigint> | Nested<boolean>,
  shape?: readonly number[],
  dtype?: D,
): Tensor<D>;
export function tensor(values: Input, shape?: readonly number[], dtype?: DType, view?: View): Tensor {
  if (ArrayBuffer.isView(values)) return ofArray(values, shape, dtype, view);
  return ofNumbers(values as Scalar | Nested<Scalar>, shape, dtype);
}

/**
 * Inputs by name as tensors; `others` are beside them. What is undefined is left out. TypeError or RangeError, with the input's name, for
 * what is no input.
 */
export function tensorsOf(
  inputs: Readonly<Record<string, Input | undefined>>,
  others: Iterable<{ readonly dtype: DType }> = [],
): Map<string, Tensor> {
  const given = Object.entries(inputs).filter((entry): entry is [string, Input] => entry[1] !== undefined);
  const beside = [...others].map(({ dtype }) => dtype).filter(isFloating);
  const dtypes = beside.concat(given.flatMap(([name, value]) => named(name, () => floatingDtype(value))));
  const promoted = dtypes.every((dtype) => dtype === dtypes[0]) ? dtypes[0] : promotedDtype(dtypes);
  return new Map(given.map(([name, value]) => [name, named(name, () => tensorOf(value, promoted ?? 'float32'))]));
}

/** The value of `make`, whose errors get a name in front. */
export function named<T>(name: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError) error.message = `${name}: ${error.message}`;
    throw error;
  }
}

/** What a message has of a tensor. */
export function wireBytes(value: Tensor): Uint8Array {
  return littleEndian(value.bytes, itemSize(value.dtype));
}

/** A tensor of bytes that came in a message. The bytes' number must be right. */
export function tensorOfWire(dtype: DType, shape: readonly number[], bytes: Uint8Array): Tensor {
  return new Tensor(dtype, shape, littleEndian(bytes, itemSize(dtype)));
}

/** Elements of a shape. RangeError for a shape that is none. */
export function sizeOf(shape: readonly number[]): number {
  let size = 1;
  for (const extent of shape) {
    if (!Number.isSafeInteger(extent) || extent < 0) {
      throw new RangeError(`shape: want whole numbers >= 0, got [${shape.join(', ')}]`);
    }
    size *= extent;
  }
  return size;
}

/** A tensor with the elements of a view side by side; the same where it is no view. */
export function dense(value: Tensor): Tensor {
  const { dtype, shape, view } = value;
  if (view.strides === undefined && view.offset === undefined) return value;
  const strides = view.strides ?? denseStrides(shape);
  const source = value.data as Float64Array;
  const data = new (arrayTypeOf(dtype))(value.size) as Float64Array;
  const index = shape.map(() => 0);
  for (let i = 0; i < data.length; i++) {
    data[i] = source[index.reduce((sum, position, axis) => sum + position * strides[axis]!, view.offset ?? 0)]!;
    for (let axis = shape.length - 1; axis >= 0 && ++index[axis]! === shape[axis]; axis--) index[axis] = 0;
  }
  return new Tensor(dtype, shape, bytesOf(data));
}

function denseStrides(shape: readonly number[]): number[] {
  return shape.map((_, axis) => sizeOf(shape.slice(axis + 1)));
}

/** RangeError for a view that looks beyond its array. */
function checkView(
  length: number,
  shape: readonly number[],
  { strides = denseStrides(shape), offset = 0 }: View,
): void {
  if (strides.length !== shape.length) throw new RangeError(`strides: want ${shape.length}, got ${strides.length}`);
  if (![offset, ...strides].every((step) => Number.isSafeInteger(step) && step >= 0)) {
    throw new RangeError(`strides and offset: want whole numbers >= 0, got [${strides.join(', ')}] and ${offset}`);
  }
  const last = shape.reduce((sum, extent, axis) => sum + (extent - 1) * strides[axis]!, offset);
  if (sizeOf(shape) > 0 && last >= length) {
    throw new RangeError(`strides: want a view of ${length} elements, got one that reaches element ${last}`);
  }
}

function tensorOf(value: Input, weakDtype: DType): Tensor {
  if (value instanceof Tensor) return value;
  if (ArrayBuffer.isView(value)) return tensor(value);
  return ofNumbers(value as Scalar | Nested<Scalar>, undefined, undefined, weakDtype);
}

function floatingDtype(value: Input): DType[] {
  if (value instanceof Tensor) return isFloating(value.dtype) ? [value.dtype] : [];
  return ArrayBuffer.isView(value) && isFloating(dtypeOfArray(value)) ? [dtypeOfArray(value)] : [];
}

function promotedDtype(dtypes: readonly DType[]): DType {
  return dtypes.includes('float64') ? 'float64' : 'float32';
}

function ofArray(
  array: TypedArray,
  shape = [array.length] as readonly number[],
  dtype?: DType,
  view: View = {},
): Tensor {
  const own = dtypeOfArray(array);
  const isBits = own === 'uint16' && (dtype === 'float16' || dtype === 'bfloat16');
  if (dtype !== undefined && dtype !== own && !isBits && !(own === 'uint8' && dtype === 'bool')) {
    throw new TypeError(`dtype: want ${arrayTypeOf(dtype).name} for ${dtype}, got a ${array.constructor.name}`);
  }
  const isView = view.strides !== undefined || view.offset !== undefined;
  const size = sizeOf(shape);
  if (isView) checkView(array.length, shape, view);
  if (!isView && size !== array.length) {
    throw new RangeError(`shape: want one of ${array.length} elements, got [${shape.join(', ')}]`);
  }
  return new Tensor(dtype ?? own, shape, bytesOf(array), view);
}

function ofNumbers(
  values: Scalar | Nested<Scalar>,
  shape?: readonly number[],
  dtype?: DType,
  weakDtype: DType = 'float32',
): Tensor {
  const flat: Scalar[] = [];
  const found = Array.isArray(values) ? shapeOfLists(values as Nested<Scalar>, flat) : [];
  if (!Array.isArray(values)) flat.push(values as Scalar);
  const array = arrayOfNumbers(flat, dtype ?? dtypeOfNumbers(flat, weakDtype));
  if (shape !== undefined && sizeOf(shape) !== flat.length) {
    throw new RangeError(`shape: want one of ${flat.length} elements, got [${shape.join(', ')}]`);
  }
  return new Tensor(array.dtype, shape ?? found, bytesOf(array.data));
}

function shapeOfLists(list: Nested<Scalar>, flat: Scalar[]): number[] {
  let inner: number[] | undefined;
  for (const item of list) {
    const shape = Array.isArray(item) ? shapeOfLists(item as Nested<Scalar>, flat) : [];
    if (!Array.isArray(item)) flat.push(item as Scalar);
    inner ??= shape;
    if (inner.length !== shape.length || inner.some((extent, i) => extent !== shape[i])) {
      throw new RangeError(`want lists of one length, got [${shape.join(', ')}] beside [${inner.join(', ')}]`);
    }
  }
  return [list.length, ...(inner ?? [])];
}

function dtypeOfNumbers(flat: readonly Scalar[], weakDtype: DType): DType {
  const kinds = new Set(flat.map((value) => typeof value));
  const [kind] = kinds.size === 0 ? ['number'] : kinds;
  if (kinds.size > 1) throw new TypeError(`want values of one kind, got ${[...kinds].join(' and ')}`);
  if (kind === 'number') return weakDtype;
  if (kind === 'bigint') return 'int64';
  if (kind === 'boolean') return 'bool';
  throw new TypeError(`want a tensor, a typed array or numbers, got ${flat[0] === null ? 'null' : kind}`);
}

function arrayOfNumbers(flat: readonly Scalar[], dtype: DType): { dtype: DType; data: TypedArray } {
  arrayTypeOf(dtype); // that it is one
  if (dtype === 'int64' || dtype === 'uint64') return { dtype, data: bigints(flat, dtype) };
  if (flat.some((value) => typeof value === 'bigint')) throw new TypeError(`want numbers for ${dtype}, got a bigint`);
  const numbers = flat.map(Number);
  if (dtype === 'float16') return { dtype, data: toFloat16(numbers) };
  if (dtype === 'bfloat16') return { dtype, data: toBfloat16(numbers) };
  const data = new (arrayTypeOf(dtype))(numbers.length) as Float64Array;
  data.set(numbers);
  if (!isFloating(dtype) && dtype !== 'bool') {
    const lost = numbers.findIndex((number, i) => data[i] !== number);
    if (lost >= 0) throw new RangeError(`want numbers that ${dtype} has, got ${numbers[lost]}`);
  }
  return { dtype, data };
}

function bigints(flat: readonly Scalar[], dtype: 'int64' | 'uint64'): BigInt64Array | BigUint64Array {
  const values = flat.map((value) => BigInt(value));
  const data = dtype === 'int64' ? BigInt64Array.from(values) : BigUint64Array.from(values);
  const lost = values.findIndex((value, i) => data[i] !== value);
  if (lost >= 0) throw new RangeError(`want numbers that ${dtype} has, got ${values[lost]}`);
  return data;
}

function alignedArray(dtype: DType, bytes: Uint8Array): TypedArray {
  const type = arrayTypeOf(dtype);
  const length = bytes.length / type.BYTES_PER_ELEMENT;
  if (bytes.byteOffset % type.BYTES_PER_ELEMENT === 0) return new type(bytes.buffer, bytes.byteOffset, length);
  return new type(new Uint8Array(bytes).buffer, 0, length);
}
