// Elements as the protocol's bytes, which are little-endian.

const IS_LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** A view of the array's bytes. */
export function bytesOf(array: ArrayBufferView): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

/** A copy in the other byte order. */
export function swapped(bytes: Uint8Array, itemSize: number): Uint8Array {
  const copy = new Uint8Array(bytes.length);
  for (let start = 0; start < bytes.length; start += itemSize) {
    for (let i = 0; i < itemSize; i++) copy[start + i] = bytes[start + itemSize - 1 - i]!;
  }
  return copy;
}

/** Bytes of this machine's order as the protocol's, or the other way round: the bytes themselves on nearly all machines. */
export function littleEndian(bytes: Uint8Array, itemSize: number): Uint8Array {
  return IS_LITTLE_ENDIAN || itemSize === 1 ? bytes : swapped(bytes, itemSize);
}
