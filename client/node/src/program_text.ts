// Programs in the text form of docs/programs.md, to the character as `opserve program show` prints it.

import { DataType } from './generated/opserve/v1/types_pb.js';
import type { Attribute, Program, Step, Tensor, TensorValues } from './generated/opserve/v1/types_pb.js';
import { fromBfloat16, fromFloat16, toBfloat16, toFloat16 } from './values/halves.js';

/** By the protocol's numbers. */
const DTYPES = 'f32 f16 bf16 f64 i8 i16 i32 i64 u8 u16 u32 u64 b8'.split(' ');
/** Digits that tell every double from its neighbours. */
const ENOUGH_DIGITS = 17;
/** Digits that JavaScript gives of a number, behind the point: all those of one that lies halfway between shorter ones. */
const MOST_DIGITS = 100;

/** A step a line, the gradient that it asks for, its outputs. */
export function programText({ steps, gradient, outputs }: Program): string {
  const lines = steps.map(stepText);
  if (gradient !== undefined) {
    const seed = gradient.seed === '' ? '' : ` seed ${gradient.seed}`;
    const bound = gradient.maxWorkspaceBytes === 0n ? '' : ` within ${gradient.maxWorkspaceBytes}`;
    lines.push(`gradient ${gradient.of}: ${gradient.withRespectTo.join(', ')}${seed}${bound}`);
  }
  lines.push(`return ${outputs.map(({ name, value }) => `${name}=${value}`).join(', ')}`);
  // Names that a server tells break no line, and move no terminal's cursor.
  return lines.map((line) => `${line.replace(/[\u0000-\u001f\u007f-\u009f]/g, '?')}\n`).join('');
}

function stepText({ name, op, inputs, attributes }: Step): string {
  const tensors = inputs.map((input) => `${input.name}=${valueText(input)}`);
  const others = attributes.map((attribute) => `${attribute.name}=${attributeText(attribute)}`);
  return `${name} = ${op}(${[...tensors, ...others].join(', ')})`;
}

/** An input of a step: a value as it is, a view of one, or a constant. */
export function valueText({ dtype, shape, scalar, strides, storageOffset, data }: Tensor): string {
  const isView = data.case === 'value' && (shape.length > 0 || scalar);
  let text = data.case === 'value' ? data.value : '';
  if (isView) text += `[${shape.join()}]`;
  if (data.case === 'values') {
    text = `${DTYPES[dtype - 1] ?? '?'}[${shape.join()}]{${elementTexts(dtype, data.value).join()}}`;
  }
  if (strides.length > 0 || (isView && storageOffset !== 0n)) text += `.strides(${strides.join()})`;
  return storageOffset === 0n ? text : `${text}.offset(${storageOffset})`;
}

function attributeText({ value }: Attribute): string {
  switch (value.case) {
    case undefined:
      return '';
    case 'floatValue':
      return numberText(value.value, DataType.FLOAT64);
    case 'floatList':
      return `[${value.value.values.map((number) => numberText(number, DataType.FLOAT64)).join()}]`;
    case 'intList':
    case 'boolList':
      return `[${value.value.values.join()}]`;
    default:
      return String(value.value);
  }
}

function elementTexts(dtype: DataType, { floats, ints, uints, bools }: TensorValues): string[] {
  const isFloating = dtype >= DataType.FLOAT32 && dtype <= DataType.FLOAT64;
  const whole = (value: bigint) => {
    if (isFloating) return numberText(Number(value), dtype);
    return dtype === DataType.BOOL ? String(value !== 0n) : String(value);
  };
  return [...floats.map((value) => numberText(value, dtype)), ...[...ints, ...uints].map(whole), ...bools.map(String)];
}

/** The number of the dtype that is nearest. */
function rounded(value: number, dtype: DataType): number {
  if (dtype === DataType.FLOAT32) return Math.fround(value);
  if (dtype === DataType.FLOAT16) return fromFloat16(toFloat16([value]))[0]!;
  if (dtype === DataType.BFLOAT16) return fromBfloat16(toBfloat16([value]))[0]!;
  return value;
}

/** The shortest text that is read as the same number of the dtype. */
function numberText(number: number, dtype: DataType): string {
  const value = rounded(number, dtype);
  if (Number.isNaN(value)) return 'nan';
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  const magnitude = Math.abs(value);
  if (magnitude === Infinity) return `${sign}inf`;
  const { digits, exponent } = shortest(magnitude, dtype);
  const scientific = scientificText(digits, exponent);
  const plain = plainText(digits, exponent);
  if (dtype === DataType.FLOAT16 || dtype === DataType.BFLOAT16) {
    return sign + (exponent < -4 || exponent >= digits.length ? scientific : plain); // as C's %g
  }
  // All digits of a large number, where they are no longer.
  const exact = Number.isInteger(magnitude) ? String(BigInt(magnitude)) : plain;
  return sign + (scientific.length < exact.length ? scientific : exact);
}

interface Decimal {
  readonly digits: string; // the first one before the point
  readonly exponent: number;
}

/**
 * As few digits as are read as the same number. Below a power of two numbers lie closer, so that the nearest digits may miss it, but others
 * of as many do not; where the nearest are sought, as of 16 bits, these do not count.
 */
function shortest(magnitude: number, dtype: DataType): Decimal {
  const [all = '', power] = magnitude.toExponential(MOST_DIGITS).split('e');
  const isHalf = dtype === DataType.FLOAT16 || dtype === DataType.BFLOAT16;
  for (let count = 1; count < ENOUGH_DIGITS; count++) {
    const [near, other] = cut(all.replace('.', ''), Number(power), count);
    for (const decimal of isHalf ? [near] : [near, other]) {
      const read = Number(`${decimal.digits[0]}.${decimal.digits.slice(1)}e${decimal.exponent}`);
      if (rounded(read, dtype) === magnitude) return decimal;
    }
  }
  return cut(all.replace('.', ''), Number(power), ENOUGH_DIGITS)[0];
}

/** The first digits: rounded to nearest even, and the other way. */
function cut(all: string, exponent: number, count: number): [Decimal, Decimal] {
  const below = all.slice(0, count);
  const sum = String(BigInt(below) + 1n);
  const carried = sum.length > count ? 1 : 0;
  const down = { digits: below, exponent };
  const up = { digits: sum.slice(0, count), exponent: exponent + carried };
  const rest = all.slice(count);
  const half = '5'.padEnd(rest.length, '0');
  return rest > half || (rest === half && Number(below.at(-1)) % 2 === 1) ? [up, down] : [down, up];
}

function scientificText(digits: string, exponent: number): string {
  const fraction = digits.length > 1 ? `.${digits.slice(1)}` : '';
  return `${digits[0]}${fraction}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

function plainText(digits: string, exponent: number): string {
  if (exponent < 0) return `0.${'0'.repeat(-exponent - 1)}${digits}`;
  const whole = digits.padEnd(exponent + 1, '0');
  const fraction = whole.slice(exponent + 1);
  return fraction === '' ? whole : `${whole.slice(0, exponent + 1)}.${fraction}`;
}
