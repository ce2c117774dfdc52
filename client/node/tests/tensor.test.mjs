// Tensors, 16-bit floats, byte order and attributes, without a server.

import assert from 'node:assert/strict';
import test from 'node:test';

import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { call, fromBfloat16, fromFloat16, Tensor, tensor, toBfloat16, toFloat16 } from '@opserve/client';

import { attributesOf } from '../dist/attributes.js';
import { executeRequest } from '../dist/calls.js';
import { swapped } from '../dist/values/bytes.js';
import { ExecuteRequestSchema } from '../dist/generated/opserve/v1/operator_service_pb.js';
import { AttributeSchema } from '../dist/generated/opserve/v1/types_pb.js';
import { dense, tensorOfWire, tensorsOf } from '../dist/values/tensor.js';
import { joined, parsed } from '../dist/wire.js';

test('every float16 is the bits that it was made of', () => {
  const bits = Uint16Array.from({ length: 65536 }, (_, i) => i).filter((word) => (word & 0x7fff) <= 0x7c00);
  assert.deepEqual(toFloat16(fromFloat16(bits)), bits);
});

test('every bfloat16 is the bits that it was made of', () => {
  const bits = Uint16Array.from({ length: 65536 }, (_, i) => i).filter((word) => (word & 0x7fff) <= 0x7f80);
  assert.deepEqual(toBfloat16(fromBfloat16(bits)), bits);
});

test('numbers are rounded to the nearest even 16-bit float, once', () => {
  const ulp = 2 ** -10;
  const cases = [
    [1 + ulp / 2, 1],
    [1 + (3 * ulp) / 2, 1 + 2 * ulp],
    [1 + ulp / 2 + 2 ** -40, 1 + ulp], // by way of float32 it would be 1
    [65519.99, 65504],
    [65520, Infinity],
    [2 ** -25, 0],
    [2 ** -25 * 1.01, 2 ** -24],
    [-1e-30, -0],
    [NaN, NaN],
  ];
  for (const [given, want] of cases) assert.equal(fromFloat16(toFloat16([given]))[0], want, `${given}`);
  assert.equal(fromBfloat16(toBfloat16([1 + 2 ** -8]))[0], 1);
  assert.equal(fromBfloat16(toBfloat16([1 + 2 ** -8 + 2 ** -40]))[0], 1 + 2 ** -7);
  assert.equal(fromBfloat16(toBfloat16([3.4e38]))[0], Infinity);
  assert.equal(fromFloat16([0x3555])[0], Math.fround(0.333251953125));
});

test('bytes of a machine of the other order', () => {
  const values = Float32Array.of(1, -2.5);
  const bytes = swapped(new Uint8Array(values.buffer), 4);
  const view = new DataView(bytes.buffer);
  assert.deepEqual([view.getFloat32(0, false), view.getFloat32(4, false)], [1, -2.5]);
  assert.deepEqual(swapped(Uint8Array.of(1, 2), 1), Uint8Array.of(1, 2));
});

test('typed arrays keep their dtype and are not copied', () => {
  const kinds = {
    Float32Array: 'float32',
    Float64Array: 'float64',
    Int8Array: 'int8',
    Int16Array: 'int16',
    Int32Array: 'int32',
  };
  Object.assign(kinds, { BigInt64Array: 'int64', Uint8Array: 'uint8', Uint16Array: 'uint16', Uint32Array: 'uint32' });
  Object.assign(kinds, { BigUint64Array: 'uint64', Uint8ClampedArray: 'uint8' });
  for (const [name, dtype] of Object.entries(kinds)) {
    const array = new globalThis[name](6);
    const made = tensor(array, [2, 3]);
    assert.equal(made.dtype, dtype);
    assert.equal(made.bytes.buffer, array.buffer);
    assert.deepEqual(made.shape, [2, 3]);
  }
  assert.equal(tensor(Uint16Array.of(1), [1], 'bfloat16').dtype, 'bfloat16');
  assert.equal(tensor(Uint8Array.of(1), [1], 'bool').dtype, 'bool');
});

test('numbers take the dtype beside them, bigints and booleans their own', () => {
  const dtypes = (inputs) => [...tensorsOf(inputs).values()].map(({ dtype }) => dtype);
  assert.deepEqual(dtypes({ a: 1, b: [1, 2] }), ['float32', 'float32']);
  const half = tensor([1], [1], 'float16');
  assert.deepEqual(dtypes({ a: half, b: 1, c: [2n], d: true }), ['float16', 'float16', 'int64', 'bool']);
  assert.deepEqual(dtypes({ a: half, b: Float32Array.of(1), c: 1 }), ['float16', 'float32', 'float32']);
  assert.deepEqual(dtypes({ a: half, b: Float64Array.of(1), c: 1 }), ['float16', 'float64', 'float64']);
  assert.deepEqual(dtypes({ a: 1, b: undefined }), ['float32']);
  assert.deepEqual(tensor([[1, 2, 3]]).shape, [1, 3]);
  assert.deepEqual(tensor([[], []]).shape, [2, 0]);
  assert.deepEqual(tensor(7).shape, []);
  assert.deepEqual(tensor([1, 2], [2, 1], 'int8').data, Int8Array.of(1, 2));
});

test('what is no tensor is refused by name', () => {
  const refused = (make, message) => assert.throws(make, { message });
  refused(() => tensorsOf({ self: 'one' }), 'self: want a tensor, a typed array or numbers, got string');
  refused(() => tensorsOf({ self: null }), 'self: want a tensor, a typed array or numbers, got null');
  refused(() => tensorsOf({ self: [[1], [1, 2]] }), 'self: want lists of one length, got [2] beside [1]');
  refused(() => tensorsOf({ self: [1, 2n] }), 'self: want values of one kind, got number and bigint');
  refused(() => tensorsOf({ self: new DataView(new ArrayBuffer(1)) }), /^self: want a typed array of Float32, .*got/);
  refused(() => tensor(new Float32Array(3), [2, 2]), 'shape: want one of 3 elements, got [2, 2]');
  refused(() => tensor(new Float32Array(3), [-3]), 'shape: want whole numbers >= 0, got [-3]');
  refused(() => tensor(new Float32Array(1), [1], 'float16'), 'dtype: want Uint16Array for float16, got a Float32Array');
  refused(() => tensor([1], [1], 'float8'), /^dtype: want one of float32, .*, got float8$/);
  refused(() => tensor([300], [1], 'uint8'), 'want numbers that uint8 has, got 300');
  refused(() => tensor([2n ** 63n], [1], 'int64'), 'want numbers that int64 has, got 9223372036854775808');
  refused(() => tensor([1n], [1], 'float32'), 'want numbers for float32, got a bigint');
});

test('a view is made dense where it must be, and stays within its array', () => {
  const rows = Float32Array.of(0, 1, 2, 3, 4, 5);
  const columns = tensor(rows, [3, 2], undefined, { strides: [1, 3] });
  assert.deepEqual(dense(columns).data, Float32Array.of(0, 3, 1, 4, 2, 5));
  assert.deepEqual(dense(tensor(rows, [2, 2], undefined, { offset: 2 })).data, Float32Array.of(2, 3, 4, 5));
  assert.deepEqual(dense(tensor(rows, [0, 9], undefined, { strides: [9, 9] })).data, new Float32Array(0));
  const beyond = () => tensor(rows, [3, 2], undefined, { strides: [1, 4] });
  assert.throws(beyond, { message: 'strides: want a view of 6 elements, got one that reaches element 6' });
  assert.throws(() => tensor(rows, [6], undefined, { strides: [1, 1] }), { message: 'strides: want 1, got 2' });
  assert.throws(() => tensor(rows, [2], undefined, { strides: [-1] }), RangeError);
});

test('a result looks into its bytes where they are aligned', () => {
  const message = new Uint8Array(16);
  new DataView(message.buffer).setFloat32(4, 1.5, true);
  const aligned = tensorOfWire('float32', [1], message.subarray(4, 8));
  assert.equal(aligned.data.buffer, message.buffer);
  assert.equal(aligned.as('float32')[0], 1.5);
  message.copyWithin(5, 4, 8);
  const shifted = tensorOfWire('float32', [1], message.subarray(5, 9));
  assert.deepEqual(shifted.data, Float32Array.of(1.5));
  assert.equal(shifted.data, shifted.data);
  assert.equal(shifted.bytes.buffer, message.buffer);
  assert.throws(() => shifted.as('float64'), { message: 'dtype: want float64, got float32' });
  assert.throws(() => tensor([1n]).toFloat32(), { message: 'dtype: want a floating one, got int64' });
  assert.equal(String(new Tensor('int8', [2, 3], new Uint8Array(6))), 'Tensor int8[2, 3]');
});

test('attributes are of the kind of their values', () => {
  const made = (value) => create(AttributeSchema, attributesOf({ a: value })[0]).value;
  assert.deepEqual(made(2), { case: 'intValue', value: 2n });
  assert.deepEqual(made(2.5), { case: 'floatValue', value: 2.5 });
  assert.deepEqual(made(-0), { case: 'floatValue', value: -0 });
  assert.deepEqual(made(1e300), { case: 'floatValue', value: 1e300 });
  assert.deepEqual(made(2n ** 60n), { case: 'intValue', value: 2n ** 60n });
  assert.deepEqual(made(true), { case: 'boolValue', value: true });
  assert.deepEqual(made('mean'), { case: 'stringValue', value: 'mean' });
  const list = (value) => [made(value).case, made(value).value.values];
  assert.deepEqual(list([1, 2]), ['intList', [1n, 2n]]);
  assert.deepEqual(list([]), ['intList', []]);
  assert.deepEqual(list(BigInt64Array.of(3n)), ['intList', [3n]]);
  assert.deepEqual(list([1, 2.5]), ['floatList', [1, 2.5]]);
  assert.deepEqual(list(Float32Array.of(1)), ['floatList', [1]]);
  assert.deepEqual(list([true, false]), ['boolList', [true, false]]);
  assert.deepEqual(attributesOf({ a: undefined }), []);
  assert.throws(() => made(null), { message: 'a: want a number, a boolean, a name or a list of numbers, got null' });
  assert.throws(() => made([1, true]), { message: 'a: want a list of numbers or of booleans, got [number, boolean]' });
});

test('a message has the bytes that protobuf writes', () => {
  const raw = [0, 1, 127, 128, 16384].map((size) => new Uint8Array(size).fill(size));
  const whole = create(ExecuteRequestSchema, { call: { op: 'Relu' }, raw });
  const message = joined([Buffer.from([10, 4, ...Buffer.from('Relu')])], raw);
  assert.deepEqual(new Uint8Array(message), toBinary(ExecuteRequestSchema, whole));
  for (const entry of parsed(ExecuteRequestSchema, message).raw) assert.equal(entry.buffer, message.buffer);
  assert.equal(fromBinary(ExecuteRequestSchema, message).call.op, 'Relu');
});

test('calls that are almost alike keep their differences', () => {
  const message = (inputs, attributes, options) =>
    executeRequest(call('Relu', inputs, attributes, options), Infinity).message;
  const variants = [
    ...[1, 1.5, 1n, true, '1', 0, -0, false, Infinity].map((beta) => [{ self: 1 }, { beta }]),
    ...['float32', 'int32'].flatMap((dtype) =>
      [[2, 3], [3, 2], [6]].map((shape) => [{ self: tensor(Array(6).fill(1), shape, dtype) }]),
    ),
    [{ self: 1 }, {}, { device: 'cpu:1' }],
    [{ self: 1 }, {}, { outputDtypes: { out: 'float16' } }],
    [{ self: 1 }, {}, { onExecution: () => undefined }],
    [{ other: 1 }, {}],
    [{ self: tensor(new Float32Array(6), [2, 3], undefined, { strides: [0, 1] }) }],
  ];
  const first = variants.map((variant) => message(...variant));
  assert.deepEqual(
    variants.map((variant) => message(...variant)),
    first,
  );
  // A whole number and the bigint are the same int.
  assert.equal(new Set(first.map((bytes) => bytes.toString('latin1'))).size, variants.length - 1);
  for (let beta = 0; beta < 2000; beta++) message({ self: 1 }, { beta });
  assert.deepEqual(
    fromBinary(ExecuteRequestSchema, message({ self: 1 }, { beta: 7 })).call.attributes[0].value.value,
    7n,
  );
});
