// JSON from a server, of which nothing is certain.

import { badAnswer } from '../../node/src/values/errors.js';

/** An object of JSON, of whose members nothing is known. */
export type Members = Readonly<Record<string, unknown>>;

/** What bytes say. InternalError for bytes that are no JSON. */
export function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw badAnswer(`it is no JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Whether it is an object. */
export function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value, where it is an object; `place` names it in the error. */
export function objectOf(value: unknown, place: string): Members {
  if (!isObject(value)) throw badAnswer(`${place}: want an object, got ${kindOf(value)}`);
  return value;
}

export function listOf(value: unknown, place: string): readonly unknown[] {
  if (!Array.isArray(value)) throw badAnswer(`${place}: want a list, got ${kindOf(value)}`);
  return value;
}

export function textOf(value: unknown, place: string): string {
  if (typeof value !== 'string') throw badAnswer(`${place}: want a text, got ${kindOf(value)}`);
  return value;
}

/** A whole number that doubles have exactly, from `least` on. */
export function intOf(value: unknown, place: string, least = 0): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < least) {
    throw badAnswer(
      `${place}: want a whole number >= ${least}, got ${typeof value === 'number' ? value : kindOf(value)}`,
    );
  }
  return value;
}

/** A member that the object has itself; undefined for one that it has not. */
export function member(object: Members, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : typeof value;
}
