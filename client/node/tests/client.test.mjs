// Calls on a real server.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';

import * as opserve from '@opserve/client';
import { call, connect, tensor } from '@opserve/client';

import { serverForTests } from './support/server.mjs';

const server = await serverForTests(test);
const client = await connect(server.address, { timeoutMs: 30_000 });
test.after(() => client.close());

const x = tensor(Float32Array.of(0, 1, 2, 3, 4, 5, 6, 7), [4, 2]);
const run = promisify(execFile);

test('a gradient', async () => {
  const inputs = { grad_out: new Float32Array([1]), self: x, target: 1 };
  const { grad_input } = await client.execute('SmoothL1LossBackward', inputs, { reduction: 'none', beta: 1 });
  assert.deepEqual(grad_input.as('float32'), Float32Array.of(-1, 0, 1, 1, 1, 1, 1, 1));
  assert.deepEqual(grad_input.shape, [4, 2]);
});

test('every dtype goes there, and the floating ones come back', async () => {
  for (const dtype of ['float32', 'float16', 'bfloat16']) {
    const { out } = await client.execute('Cast', { self: tensor([0, -1.5, 2], [3], dtype) }, { dtype: 'float32' });
    assert.deepEqual(out.as('float32'), Float32Array.of(0, -1.5, 2), dtype);
    const back = await client.execute('Cast', { self: out }, { dtype });
    assert.deepEqual([back.out.dtype, back.out.data], [dtype, tensor([0, -1.5, 2], [3], dtype).data]);
  }
  for (const dtype of ['int8', 'int16', 'int32', 'int64', 'uint8', 'bool']) {
    const target = tensor([0, 1, 1], [3], dtype);
    const { out } = await client.execute('L1Loss', { self: [0, 0, 3], target }, { reduction: 'none' });
    assert.deepEqual(out.as('float32'), Float32Array.of(0, 1, 2), dtype);
  }
  const wide = { log_probs: tensor([-1, -2, -3, -1, -2, -3], [2, 1, 3], 'float64'), targets: [[1n]] };
  const lengths = { input_lengths: [2], target_lengths: [1], blank: 0, zero_infinity: false };
  const { neg_log_likelihood } = await client.execute('CtcLoss', wide, lengths);
  assert.equal(neg_log_likelihood.as('float64').length, 1);
});

test('a view is sent as it is', async () => {
  const transposed = tensor(Float32Array.of(-1, 2, 3, -4, 5, 6), [3, 2], undefined, { strides: [1, 3] });
  const { out } = await client.execute('Relu', { self: transposed });
  assert.deepEqual(
    [out.shape, [...out.data]],
    [
      [3, 2],
      [0, 0, 2, 5, 3, 6],
    ],
  );
});

test('options: device, output dtype, execution', async () => {
  let execution;
  const options = { device: 'cpu:0', outputDtypes: { out: 'float16' }, onExecution: (told) => (execution = told) };
  const { out } = await client.execute('Relu', { self: x }, {}, options);
  assert.equal(out.dtype, 'float16');
  assert.deepEqual(out.toFloat32(), x.data);
  assert.equal(execution.device, 'cpu:0');
  assert.ok(execution.executedMs >= 0 && execution.queuedMs >= 0);
});

test('outputs that are masked out, scalars, tensors without elements', async () => {
  const { result } = await client.execute('SmoothL1Loss', { self: x, target: x }, { reduction: 'sum' });
  assert.deepEqual([result.shape, result.size, result.data[0]], [[], 1, 0]);
  const { out } = await client.execute('Relu', { self: new Float32Array(0) });
  assert.deepEqual([out.shape, out.data.length], [[0], 0]);
});

test('an error has its parts', async () => {
  const refused = client.execute('SmoothL1Loss', { self: x, target: x }, { beta: -1 });
  await assert.rejects(refused, (error) => {
    assert.ok(error instanceof opserve.InvalidArgumentError && error instanceof opserve.OpserveError);
    const { name, code, reason, aclnnCode, operator, parameter, want, got, retryAfterMs } = error;
    assert.deepEqual(
      [name, code, reason, aclnnCode],
      ['InvalidArgumentError', 'INVALID_ARGUMENT', 'OUT_OF_RANGE', 161002],
    );
    assert.deepEqual([operator, parameter, want, got, retryAfterMs], ['SmoothL1Loss', 'beta', '>= 0', '-1', undefined]);
    assert.equal(error.message, 'OUT_OF_RANGE 161002: SmoothL1Loss: beta: want >= 0, got -1');
    return true;
  });
  await assert.rejects(client.execute('Nothing', { self: x }), opserve.NotFoundError);
  await assert.rejects(client.execute('Relu', { self: x }, {}, { device: 'cpu:9' }), opserve.NotFoundError);
  await assert.rejects(client.execute('Relu', { self: {} }), TypeError);
});

test('a batch has a result or an error for each call', async () => {
  const calls = Array.from({ length: 40 }, (_, i) => call('Relu', { self: Float32Array.of(i - 20) }));
  const results = await client.executeBatch([...calls, call('SmoothL1Loss', { self: x, target: x }, { beta: -1 })]);
  assert.equal(results.length, 41);
  calls.forEach((_, i) => assert.equal(results[i].value.out.data[0], Math.max(0, i - 20)));
  assert.equal(results[40].reason.parameter, 'beta');
  assert.deepEqual(await client.executeBatch([]), []);
});

test('a plan', async () => {
  const inputs = { self: { shape: [64, 1000], dtype: 'float16' }, target: 1 };
  const plan = await client.plan('L1Loss', inputs, { reduction: 'none' }, { outputDtypes: { out: 'float32' } });
  assert.deepEqual(plan.outputs, { out: { dtype: 'float32', shape: [64, 1000] } });
  assert.deepEqual([plan.inputBytes, plan.outputBytes, plan.device], [128002, 256000, 'cpu:0']);
  assert.ok(plan.expectedMs > 0 && plan.workspaceBytes >= 0);
  await assert.rejects(client.plan('L1Loss', { self: x, target: { shape: [3] } }), { reason: 'SHAPE_MISMATCH' });
});

test('what a server tells of itself', async () => {
  const info = await client.info();
  assert.ok(/^\d+\.\d+/.test(info.version) && info.maxMessageBytes > 2 ** 20 && info.maxBatchCalls === 4096);
  const operators = await client.operators();
  assert.equal(operators.length, 114);
  const loss = operators.find(({ name }) => name === 'SmoothL1Loss');
  const [reduction, beta] = loss.attributes;
  assert.deepEqual([reduction.choices, reduction.default, reduction.kind], [['none', 'mean', 'sum'], 'mean', 'INT']);
  assert.deepEqual([beta.default, beta.range.minimum], [1, 0]);
  assert.deepEqual(loss.inputs[0].dtypes, ['float32', 'float16', 'bfloat16']);
  assert.equal(loss.gradient.op, 'SmoothL1LossBackward');
  assert.ok(loss.support.host.includes('float32'));
  const [device] = await client.devices();
  assert.deepEqual([device.name, device.state, device.operators.length], ['cpu:0', 'WORKING', 114]);
  const statistics = await client.statistics();
  assert.ok(statistics.methods.length > 0 && typeof statistics.uptimeNs === 'number');
});

test('the types know the operators of this server', async () => {
  const text = readFileSync(new URL('../src/generated/catalogue.ts', import.meta.url), 'utf8');
  for (const { name, outputs } of await client.operators()) {
    const found = new RegExp(`^  ${name}: \\{.*?^    outputs: (.*?);`, 'ms').exec(text);
    assert.equal(found?.[1], outputs.map((output) => `'${output.name}'`).join(' | '), name);
  }
});

test('an aborted call ends at once', async () => {
  await assert.rejects(client.execute('Relu', { self: x }, {}, { signal: AbortSignal.abort('enough') }), (error) => {
    assert.deepEqual([error.name, error.code, error.cause], ['AbortError', 'CANCELLED', 'enough']);
    return error instanceof opserve.CancelledError;
  });
  const controller = new AbortController();
  const large = { self: new Float32Array(2 ** 22) };
  const calls = [
    client.execute('Gelu', large, {}, { signal: controller.signal }),
    client.info({ signal: controller.signal }),
  ];
  setImmediate(() => controller.abort());
  for (const { status, reason } of await Promise.allSettled(calls))
    assert.deepEqual([status, reason.name], ['rejected', 'AbortError']);
});

test('a deadline', async () => {
  const large = { self: new Float32Array(2 ** 22) };
  await assert.rejects(client.execute('Gelu', large, {}, { timeoutMs: 1 }), opserve.DeadlineError);
  const signal = AbortSignal.timeout(1);
  await assert.rejects(client.execute('Gelu', large, {}, { signal }), opserve.DeadlineError);
  await assert.rejects(client.info({ timeoutMs: 0 }), { name: 'RangeError', message: 'timeoutMs: want > 0, got 0' });
});

test('what is larger than a message goes in pieces', async (t) => {
  const small = await serverForTests(t, ['--max-message-bytes', '1MiB']);
  const other = await connect(small.address, { timeoutMs: 60_000 });
  const values = Float32Array.from({ length: 2 ** 19 }, (_, i) => i - 1000);
  const progress = [];
  const options = { onProgress: (done, total) => progress.push([done, total]), outputDtypes: { out: 'float16' } };
  const { out } = await other.execute('Hardtanh', { self: values }, { clip_value_min: -1, clip_value_max: 1 }, options);
  assert.deepEqual([out.dtype, out.shape], ['float16', [2 ** 19]]);
  assert.deepEqual(
    out.toFloat32(),
    values.map((value) => Math.max(-1, Math.min(1, value))),
  );
  assert.ok(progress.length > 2);
  assert.deepEqual(progress.at(-1), [3 * 2 ** 20, 3 * 2 ** 20]);
  // Of this one only the answer is too large.
  const sum = await other.execute('Add', {
    self: new Float32Array(1024),
    other: tensor(new Float32Array(1024), [1024, 1]),
  });
  assert.deepEqual(sum.out.shape, [1024, 1024]);
  await assert.rejects(other.execute('Relu', { self: new Float64Array(2 ** 18) }), { reason: 'DTYPE_UNSUPPORTED' });
  other.close();
});

test('the example', async () => {
  const example = new URL('../examples/gradient.mjs', import.meta.url).pathname;
  const { stdout } = await run(process.execPath, [example], {
    env: { ...process.env, OPSERVE_TARGET: server.address },
  });
  assert.equal(stdout, 'grad_input -1 0 1 1 1 1 1 1\n');
  const failed = await run(process.execPath, [example, 'localhost:1']).catch((error) => error);
  assert.deepEqual([failed.code, failed.stdout], [1, '']);
  assert.match(failed.stderr, /^UNAVAILABLE: .*\n$/);
});

test('unix sockets and lists of targets', async (t) => {
  const local = await serverForTests(t, [], 'unix:{folder}/socket');
  for (const target of [
    local.address,
    ['localhost:1', local.address],
    ['localhost:1', 'dns:///localhost:2', local.address],
  ]) {
    const other = await connect(target);
    assert.ok((await other.info()).version);
    const session = await other.session();
    await session.close();
    other.close();
  }
});

test('a token says who calls', async (t) => {
  const file = join(server.folder, 'tokens');
  const secret = 'a-secret-of-at-least-sixteen-bytes';
  const hash = createHash('sha256').update(secret).digest('hex');
  writeFileSync(file, `tester discover,execute,session sha256:${hash}\n`, { mode: 0o600 });
  const guarded = await serverForTests(t, ['--token-file', file]);
  await assert.rejects(connect(guarded.address), { code: 'UNAUTHENTICATED' });
  const other = await connect(guarded.address, { token: secret });
  assert.ok((await other.execute('Relu', { self: 1 })).out);
  await (await other.session()).close();
  other.close();
});

test('a closed client', async () => {
  const other = await connect(server.address);
  other.close();
  await assert.rejects(other.info(), { message: 'CANCELLED: the client is closed' });
});

test('targets and options that cannot be are refused', async () => {
  for (const target of ['localhost', 'localhost:0', 'localhost:65536', 'http://localhost:1', '::1:80', '']) {
    await assert.rejects(connect(target), { name: 'RangeError', message: /^target: want "host:port"/ }, target);
  }
  await assert.rejects(connect([]), { message: 'target: want one or more, got none' });
  await assert.rejects(connect('example.com:1', { token: 'x' }), {
    message: /^token: want tls on its way to example.com:1/,
  });
  await assert.rejects(connect(server.address, { tls: { cert: 'x' } }), { message: /^tls: want cert and key/ });
});
