// Calls of a real server.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';

import * as opserve from '@opserve/web';
import { connect, fromFloat16, tensor, toBfloat16 } from '@opserve/web';

import { serverForTests, startServer } from '../../node/tests/support/server.mjs';

const HTTP = ['--http', '127.0.0.1:0'];
const server = await serverForTests(test, HTTP);
const client = await connect(server.http);

test('the sample of the aclnn page', async () => {
  const x = tensor(Float32Array.of(0, 1, 2, 3, 4, 5, 6, 7), [4, 2]);
  const ones = tensor(new Float32Array(8).fill(1), [4, 2]);
  const inputs = { grad_out: ones, self: x, target: ones };
  const { grad_input } = await client.execute('SmoothL1LossBackward', inputs, { reduction: 'none', beta: 1 });
  assert.deepEqual(grad_input.shape, [4, 2]);
  assert.deepEqual(grad_input.as('float32'), Float32Array.of(-1, 0, 1, 1, 1, 1, 1, 1));
});

test('the server and its operators', async () => {
  assert.equal(client.server.name, 'opserve');
  assert.match(client.server.version, /^\d+\.\d+/);
  assert.ok(client.server.extensions.includes('binary_tensor_data'));
  assert.deepEqual([await client.isLive(), await client.isReady()], [true, true]);
  const operators = await client.operators();
  assert.ok(operators.length > 100);
  assert.deepEqual(
    operators.find(({ name }) => name === 'Relu'),
    { name: 'Relu', isReady: true, reason: '' },
  );
  const { inputs, outputs, attributes } = await client.operator('GroupNorm');
  assert.deepEqual(
    inputs.map(({ name, optional }) => [name, optional]),
    [
      ['self', false],
      ['gamma', true],
      ['beta', true],
    ],
  );
  assert.equal(inputs[0].dtype, 'float32');
  assert.deepEqual(outputs.map(({ name }) => name).sort(), ['mean', 'out', 'rstd']);
  assert.match(attributes.eps, /^a float/);
});

test('inputs of every kind keep their dtype', async () => {
  const halves = await client.execute('Add', { self: tensor([[1, 2]], [1, 2], 'float16'), other: 0.5 });
  assert.equal(halves.out.dtype, 'float16');
  assert.deepEqual(fromFloat16(halves.out.as('float16')), Float32Array.of(1.5, 2.5));
  const bits = tensor(toBfloat16([-1, 2]), [2], 'bfloat16');
  const relu = await client.execute('Relu', { self: bits });
  assert.deepEqual([relu.out.dtype, [...relu.out.toFloat32()]], ['bfloat16', [0, 2]]);
  const labels = { log_probs: tensor(new Float32Array(2), [1, 1, 2]), targets: BigInt64Array.of(1n) };
  const loss = await client.execute(
    'CtcLoss',
    { ...labels, targets: tensor(labels.targets, [1, 1]) },
    { input_lengths: [1], target_lengths: [1n] },
  );
  assert.deepEqual(loss.neg_log_likelihood.shape, [1]);
  const scalar = await client.execute('Relu', { self: 3 });
  assert.deepEqual([scalar.out.shape, [...scalar.out.data]], [[], [3]]);
  const empty = await client.execute('Relu', { self: tensor(new Float32Array(0), [0, 3]) });
  assert.deepEqual([empty.out.shape, empty.out.size], [[0, 3], 0]);
});

test('attributes of every kind', async () => {
  const x = tensor(Float32Array.of(-1, 2, 3, 4), [1, 2, 2]);
  const grads = await client.execute(
    'GroupNormBackward',
    { grad_out: x, input: x, mean: [[0]], rstd: [[1]] },
    { N: 1n, C: 2, HxW: 2, group: 1, output_mask: [true, false, true] },
  );
  assert.equal(grads.grad_gamma.size, 0);
  assert.deepEqual(grads.grad_beta.data, Float32Array.of(1, 7));
  const sum = await client.execute('L1Loss', { self: [1, 2], target: [0, 0] }, { reduction: 2n });
  assert.deepEqual([...sum.out.data], [3]);
  const shrunk = await client.execute('Hardshrink', { self: [1, -2] }, { lambd: Infinity });
  assert.deepEqual([...shrunk.out.data], [0, 0]);
  await assert.rejects(client.execute('Relu', { self: 1 }, { alpha: null }), {
    name: 'TypeError',
    message: 'alpha: want a number, a boolean, a name or a list of numbers, got null',
  });
  await assert.rejects(client.execute('Any', { self: 1 }, { list: [1, true] }), {
    message: 'list: want a list of numbers or of booleans, got [number, boolean]',
  });
});

test('only the wanted outputs come', async () => {
  const x = tensor(Float32Array.of(1, 2, 3, 4), [1, 2, 2]);
  const attributes = { N: 1, C: 2, HxW: 2, group: 1, eps: 1e-5 };
  const some = await client.execute('GroupNorm', { self: x }, attributes, { outputs: ['rstd'] });
  assert.deepEqual(Object.keys(some), ['rstd']);
  const odd = client.execute('Relu', { self: x }, {}, { outputs: ['nothing'] });
  await assert.rejects(odd, { code: 'INVALID_ARGUMENT', reason: 'UNKNOWN_PARAMETER' });
});

test('views are sent as their elements, inputs as they were when the call was made', async () => {
  const columns = tensor(Float32Array.of(0, 1, 2, 3, 4, 5), [3, 2], undefined, { strides: [1, 3] });
  assert.deepEqual((await client.execute('Relu', { self: columns })).out.data, Float32Array.of(0, 3, 1, 4, 2, 5));
  const values = Float32Array.of(1, 2);
  const pending = client.execute('Relu', { self: values });
  values.fill(9);
  assert.deepEqual((await pending).out.data, Float32Array.of(1, 2));
});

test('results look into the answer, aligned', async () => {
  const { out } = await client.execute('Relu', { self: Float64Array.of(1.5) }).catch(() => ({ out: undefined }));
  assert.equal(out, undefined); // float64 is for no operator of this kind
  const large = new Float32Array(4 << 20).fill(2);
  const result = await client.execute('Relu', { self: large }, {}, { timeoutMs: 60_000 });
  assert.equal(result.out.data.buffer, result.out.bytes.buffer);
  assert.deepEqual(result.out.data, large);
});

test('errors have their parts', async () => {
  const wrong = client.execute('SmoothL1Loss', { self: [1], target: [1] }, { beta: -1 });
  const error = await wrong.catch((caught) => caught);
  assert.ok(error instanceof opserve.InvalidArgumentError);
  assert.equal(error.name, 'InvalidArgumentError'); // in spite of what makes the bundle small
  assert.equal(error.message, 'OUT_OF_RANGE 161002: SmoothL1Loss: beta: want >= 0, got -1');
  const { code, reason, aclnnCode, operator, parameter, want, got, retryAfterMs } = error;
  assert.deepEqual(
    { code, reason, aclnnCode, operator, parameter, want, got, retryAfterMs },
    {
      code: 'INVALID_ARGUMENT',
      reason: 'OUT_OF_RANGE',
      aclnnCode: 161002,
      operator: 'SmoothL1Loss',
      parameter: 'beta',
      want: '>= 0',
      got: '-1',
      retryAfterMs: undefined,
    },
  );
  await assert.rejects(client.execute('Rellu', { self: 1 }), opserve.NotFoundError);
  await assert.rejects(client.operator('../../metrics'), opserve.NotFoundError);
  await assert.rejects(client.execute('Relu', { self: 1 }, {}, { device: 'nowhere:0' }), {
    code: 'NOT_FOUND',
    reason: 'DEVICE_NOT_FOUND',
  });
  const strange = { ['a "name"\n']: 1 };
  await assert.rejects(client.execute('Relu', strange), { reason: 'UNKNOWN_PARAMETER' });
});

test('many calls at one time', async () => {
  const calls = Array.from({ length: 64 }, async (_, i) => (await client.execute('Relu', { self: [i] })).out.data[0]);
  assert.deepEqual(
    await Promise.all(calls),
    calls.map((_, i) => i),
  );
});

test('a signal cancels, a deadline ends', async () => {
  const controller = new AbortController();
  const pending = client.execute('Relu', { self: 1 }, {}, { signal: controller.signal });
  controller.abort();
  await assert.rejects(pending, { name: 'AbortError', code: 'CANCELLED' });
  await assert.rejects(client.operators({ signal: controller.signal }), { name: 'AbortError' });
  await assert.rejects(client.execute('Relu', { self: 1 }, {}, { timeoutMs: 0 }), {
    name: 'RangeError',
    message: 'timeoutMs: want > 0, got 0',
  });
  assert.equal((await client.execute('Relu', { self: 1 }, {}, { timeoutMs: Infinity })).out.size, 1);
});

test('an answer of more bytes than are allowed is not read', async () => {
  const small = await connect(server.http, { maxAnswerBytes: 1000 });
  const refused = small.execute('Relu', { self: new Float32Array(1000) });
  await assert.rejects(refused, { code: 'RESOURCE_EXHAUSTED', message: /want at most 1000 bytes \(maxAnswerBytes\)/ });
});

test('no server, and no URL', async () => {
  const closed = connect('http://127.0.0.1:9');
  await assert.rejects(closed, { code: 'UNAVAILABLE', message: 'UNAVAILABLE: no answer from http://127.0.0.1:9/' });
  for (const url of ['localhost:8600', 'nothing', 'ftp://host', 'http://host/?q', 'http://me:secret@host', '']) {
    await assert.rejects(connect(url), { name: 'RangeError', message: /^url: want "http:\/\/host:port"/ });
  }
});

test('tokens', async (t) => {
  await assert.rejects(connect('http://example.org', { token: 'secret' }), {
    name: 'TypeError',
    message: 'token: want https on its way to example.org, where anyone could read it in clear text',
  });
  await assert.rejects(connect(server.http, { token: 'two words' }), { message: /^token: want visible ASCII/ });
  const folder = mkdtempSync(join(tmpdir(), 'opserve-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const token = 'one+two/three==';
  const hash = createHash('sha256').update(token).digest('hex');
  writeFileSync(join(folder, 'tokens'), `somebody execute,discover sha256:${hash}\n`);
  const guarded = await startServer([...HTTP, '--token-file', join(folder, 'tokens')]);
  t.after(guarded.stop);
  await assert.rejects(connect(guarded.http), { code: 'UNAUTHENTICATED', reason: 'UNAUTHENTICATED' });
  const known = await connect(guarded.http, { token });
  assert.equal((await known.execute('Relu', { self: 1 })).out.size, 1);
});
