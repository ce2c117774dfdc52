// Attributes: JavaScript's values as the messages'.

import type { MessageInitShape } from '@bufbuild/protobuf';

import { AttributeSchema } from './generated/opserve/v1/types_pb.js';
import type { Attribute as Message } from './generated/opserve/v1/types_pb.js';
import type { AttributeValue } from './values/attribute_value.js';

type Value = NonNullable<MessageInitShape<typeof AttributeSchema>['value']>;

/** Attributes by name, for a message. What is undefined is left out. TypeError for a value that is none. */
export function attributesOf(
  attributes: Readonly<Record<string, AttributeValue | undefined>>,
): MessageInitShape<typeof AttributeSchema>[] {
  return Object.entries(attributes).flatMap(([name, value]) =>
    value === undefined ? [] : [{ name, value: valueOf(name, value) }],
  );
}

function valueOf(name: string, value: AttributeValue): Value {
  switch (typeof value) {
    case 'boolean':
      return { case: 'boolValue', value };
    case 'bigint':
      return { case: 'intValue', value };
    case 'number':
      return isInt(value) ? { case: 'intValue', value: BigInt(value) } : { case: 'floatValue', value };
    case 'string':
      return { case: 'stringValue', value };
    case 'object':
      if (Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView))) {
        return listOf(name, value as ArrayLike<unknown>);
      }
  }
  throw new TypeError(`${name}: want a number, a boolean, a name or a list of numbers, got ${describe(value)}`);
}

function listOf(name: string, list: ArrayLike<unknown>): Value {
  const values = Array.from(list);
  if (values.length > 0 && values.every((value) => typeof value === 'boolean')) {
    return { case: 'boolList', value: { values } };
  }
  if (list instanceof Float32Array || list instanceof Float64Array)
    return { case: 'floatList', value: { values: [...list] } };
  if (values.every((value) => typeof value === 'bigint' || (typeof value === 'number' && isInt(value)))) {
    return { case: 'intList', value: { values: values.map((value) => BigInt(value as number | bigint)) } };
  }
  if (values.every((value) => typeof value === 'number')) return { case: 'floatList', value: { values } };
  throw new TypeError(`${name}: want a list of numbers or of booleans, got [${values.map(describe).join(', ')}]`);
}

/** Whether it goes as an int: −0 does not, nor what doubles do not have exactly. */
function isInt(value: number): boolean {
  return Number.isSafeInteger(value) && !Object.is(value, -0);
}

function describe(value: unknown): string {
  return value === null ? 'null' : typeof value;
}

/** The value of an attribute that came in a message; undefined for one that has none. */
export function attributeValue({ value }: Message): AttributeValue | undefined {
  switch (value.case) {
    case undefined:
      return undefined;
    case 'intValue':
      return Number.isSafeInteger(Number(value.value)) ? Number(value.value) : value.value;
    case 'intList':
      return value.value.values.map(Number);
    case 'boolList':
    case 'floatList':
      return value.value.values;
    default:
      return value.value;
  }
}
