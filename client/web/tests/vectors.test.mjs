// The vectors of proto/conformance that unary REST can express, through the package. The rules are in their README.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { connect, tensor } from '@opserve/web';

import { serverForTests } from '../../node/tests/support/server.mjs';

const FILE = new URL('../../../proto/conformance/unary.json', import.meta.url);
const cases = JSON.parse(readFileSync(FILE, 'utf8')).cases.filter(({ method }) => method === 'Execute');

// REST has none of this: dtypes and ranks of outputs, how a call was executed, entries that nothing uses, buffers of a session, a call
// without a name, programs. The package itself refuses numbers that a dtype does not have.
const NOT_IN_REST = [
  'a call without an operator',
  'a program and its gradient',
  'a raw entry that nothing uses',
  'an attribute that comes as a tensor in a buffer',
  'an error of a program names the step',
  'an output of another dtype',
  'an output that is asked to be a scalar and is not',
  'how it was executed',
  'typed values beyond the range of an integer dtype are refused',
  'what has no gradient is named',
];

const server = await serverForTests(test, ['--http', '127.0.0.1:0']);
const client = await connect(server.http);

const bytesOf = (text) => new Uint8Array(Buffer.from(text, 'base64'));
const dtypeOf = (name) => name.replace('DATA_TYPE_', '').toLowerCase();

function numbersOf(values) {
  if (values.ints !== undefined) return values.ints.map(BigInt);
  return values.bools ?? values.floats.map(Number);
}

/** A tensor of the vectors. */
function inputOf({ dtype, shape = [], strides, storageOffset, values, rawIndex }, raw) {
  const extents = shape.map(Number);
  if (values !== undefined) {
    const wide = ['int64', 'uint64'].includes(dtypeOf(dtype));
    const numbers = numbersOf(values).map((value) => (typeof value === 'bigint' && !wide ? Number(value) : value));
    return tensor(numbers, extents, dtypeOf(dtype));
  }
  const empty = tensor([], [0], dtypeOf(dtype));
  const array = new empty.data.constructor(bytesOf(raw[rawIndex]).buffer);
  const view = strides === undefined ? {} : { strides: strides.map(Number), offset: Number(storageOffset ?? 0) };
  return tensor(array, extents, dtypeOf(dtype), view);
}

function attributeOf({ name, ...values }) {
  const [[kind, value]] = Object.entries(values);
  if (kind === 'intValue') return [name, BigInt(value)];
  if (kind === 'floatValue') return [name, Number(value)];
  if (kind === 'intList') return [name, value.values.map(BigInt)];
  if (kind === 'floatList' || kind === 'boolList') return [name, value.values];
  assert.ok(['stringValue', 'boolValue'].includes(kind), kind);
  return [name, value];
}

function execute({ call, raw }) {
  const inputs = Object.fromEntries((call.inputs ?? []).map((input) => [input.name, inputOf(input, raw)]));
  const attributes = Object.fromEntries((call.attributes ?? []).map(attributeOf));
  return client.execute(call.op, inputs, attributes, { device: call.device });
}

function matches(got, { dtype, shape, values, rawIndex }, raw) {
  if (dtype !== undefined) assert.equal(got.dtype, dtypeOf(dtype));
  if (shape !== undefined) assert.deepEqual(got.shape, shape.map(Number));
  if (rawIndex !== undefined) assert.deepEqual(got.bytes, bytesOf(raw[rawIndex]));
  if (values?.floats !== undefined) assert.deepEqual([...got.toFloat32()], values.floats.map(Number));
  else if (values !== undefined) assert.deepEqual([...got.data].map(BigInt), values.ints.map(BigInt));
}

for (const { name, request, response, error } of cases) {
  if (NOT_IN_REST.includes(name)) continue;
  test(name, async () => {
    if (error !== undefined) {
      const { code, ...words } = error.metadata;
      const aclnn = code === undefined ? {} : { aclnnCode: Number(code) };
      await assert.rejects(execute(request), { code: error.code, reason: error.reason, ...words, ...aclnn });
      return;
    }
    const outputs = await execute(request);
    assert.deepEqual(
      Object.keys(outputs),
      response.outputs.map((output) => output.name),
    );
    for (const output of response.outputs) matches(outputs[output.name], output, response.raw);
  });
}

test('the vectors that are left out are there', () => {
  const names = cases.map((one) => one.name);
  assert.deepEqual(
    NOT_IN_REST.filter((name) => !names.includes(name)),
    [],
  );
});
