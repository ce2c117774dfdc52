// Attributes: JavaScript's values as the JSON of parameters. It is written by hand, as JSON.stringify writes neither bigints nor −0.

import type { AttributeValue } from '../../node/src/values/attribute_value.js';

/** The members of an object of JSON, each as `"name":value`. What is undefined is left out. TypeError for a value that is none. */
export function parameterTexts(values: Readonly<Record<string, AttributeValue | undefined>>): string[] {
  return Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [`${JSON.stringify(name)}:${valueText(name, value)}`],
  );
}

function valueText(name: string, value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  const single = scalarText(value);
  if (single !== undefined) return single;
  if (Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView))) {
    return listText(name, Array.from(value as ArrayLike<unknown>));
  }
  throw new TypeError(`${name}: want a number, a boolean, a name or a list of numbers, got ${describe(value)}`);
}

function listText(name: string, values: readonly unknown[]): string {
  const texts = values.map(scalarText);
  const booleans = values.filter((value) => typeof value === 'boolean').length;
  if (texts.includes(undefined) || (booleans > 0 && booleans < values.length)) {
    throw new TypeError(`${name}: want a list of numbers or of booleans, got [${values.map(describe).join(', ')}]`);
  }
  return `[${texts.join(',')}]`;
}

function scalarText(value: unknown): string | undefined {
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (typeof value !== 'number') return undefined;
  if (!Number.isFinite(value)) return JSON.stringify(String(value)); // as protobuf has it: "Infinity"
  return Object.is(value, -0) ? '-0.0' : String(value);
}

function describe(value: unknown): string {
  return value === null ? 'null' : typeof value;
}
