// Messages whose bulk is in `repeated bytes raw = 15`: one copy of a tensor's bytes on their way out, none on their way in, where
// protobuf's messages look into the bytes that they were read from.

import { fromBinary } from '@bufbuild/protobuf';
import type { DescMessage, MessageShape } from '@bufbuild/protobuf';

import { badAnswer } from './values/errors.js';

const RAW_TAG = 0x7a; // field 15, length-delimited
const FIRST_TAG = 0x0a; // field 1: the call, the calls or the commands

/** A message of entries of field 1, as protobuf writes them, and entries of `raw`. */
export function joined(first: readonly Uint8Array[], raw: readonly Uint8Array[]): Buffer {
  const message = Buffer.allocUnsafe(joinedSize(first, raw));
  let position = 0;
  for (const entry of first) position = writeField(message, position, FIRST_TAG, entry);
  for (const entry of raw) position = writeField(message, position, RAW_TAG, entry);
  return message;
}

/** The bytes of that message. */
export function joinedSize(first: readonly Uint8Array[], raw: readonly Uint8Array[]): number {
  return [...first, ...raw].reduce((sum, entry) => sum + 1 + varintSize(entry.length) + entry.length, 0);
}

/** A message from its bytes, which it looks into. InternalError for bytes that are none. */
export function parsed<Desc extends DescMessage>(schema: Desc, bytes: Uint8Array): MessageShape<Desc> {
  try {
    return fromBinary(schema, new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  } catch (error) {
    throw badAnswer(`it is no ${schema.name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function varintSize(number: number): number {
  let size = 1;
  for (let rest = number; rest > 0x7f; rest = Math.floor(rest / 128)) size++;
  return size;
}

function writeField(message: Buffer, start: number, tag: number, entry: Uint8Array): number {
  let position = start;
  message[position++] = tag;
  let rest = entry.length;
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) message[position++] = rest % 128 | 0x80;
  message[position++] = rest;
  message.set(entry, position);
  return position + entry.length;
}
