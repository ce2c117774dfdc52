// The body of an answer, of no more bytes than are allowed, whatever its headers say.

import { errorOf } from '../../node/src/values/errors.js';

// What typed arrays look into must lie at multiples of this.
const ALIGNMENT = 8;

/**
 * The bytes of a body, so placed in memory that what is at `position` lies as typed arrays need it. Memory is taken for what came, not
 * for what a header promises.
 */
export async function readBody(response: Response, maxBytes: number, position: number): Promise<Uint8Array> {
  const promised = Number(response.headers.get('Content-Length') ?? 0);
  if (promised > maxBytes) throw tooLarge(maxBytes);
  const pieces: Uint8Array[] = [];
  let size = 0;
  const reader = response.body?.getReader();
  for (let piece = await reader?.read(); piece?.value !== undefined; piece = await reader?.read()) {
    size += piece.value.length;
    if (size > maxBytes) throw tooLarge(maxBytes);
    pieces.push(piece.value);
  }
  return joined(pieces, size, (ALIGNMENT - (position % ALIGNMENT)) % ALIGNMENT);
}

function joined(pieces: readonly Uint8Array[], size: number, start: number): Uint8Array {
  const whole = new Uint8Array(new ArrayBuffer(start + size), start);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

function tooLarge(maxBytes: number): Error {
  return errorOf(`answer: want at most ${maxBytes} bytes (maxAnswerBytes), got more`, 'RESOURCE_EXHAUSTED');
}
