// Sessions, on a real server and on one that means harm.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import test from 'node:test';

import { create, toBinary } from '@bufbuild/protobuf';
import { connect, InternalError, InvalidArgumentError, Program, tensor } from '@opserve/client';

import { SessionResponseSchema } from '../dist/generated/opserve/v1/session_pb.js';
import { info, serving } from './support/fake.mjs';
import { serverForTests } from './support/server.mjs';

const server = await serverForTests(test);
const client = await connect(server.address, { timeoutMs: 30_000 });
test.after(() => client.close());

const VALUES = Float32Array.of(0, 1, 2, 3, 4, 5, 6, 7);
const x = tensor(VALUES, [4, 2]);

/** Opens a session, which is cancelled behind the test unless it was closed. */
async function opened(t, options = {}) {
  const session = await client.session({ timeoutMs: 60_000, ...options });
  t.after(() => session.cancel());
  return session;
}

const elements = async (value, options) => [...(await value.download(options)).data];

test('a plan runs again and again', async (t) => {
  const session = await opened(t);
  const self = await session.tensor(x);
  const out = session.empty([4, 2]);
  const executor = await session.plan('Hardshrink', { self }, { lambd: 3.5 }, { outputs: { out } });
  assert.equal(executor.run().out, out);
  assert.deepEqual(await elements(out), [0, 0, 0, 0, 4, 5, 6, 7]);
  await self.upload(
    tensor(
      VALUES.map((value) => -2 * value),
      [4, 2],
    ),
  );
  executor.run();
  assert.deepEqual(await elements(out), [0, 0, -4, -6, -8, -10, -12, -14]);
  await session.close();
});

test('thousands of commands go in a few messages, in order', async (t) => {
  const session = await opened(t);
  const out = session.empty([2]);
  for (let i = 0; i <= 5000; i++) out.fill(i);
  assert.deepEqual(await elements(out), [5000, 5000]);
});

test('hundreds of large programs go in several messages', async (t) => {
  const session = await opened(t);
  const program = new Program();
  let value = program.input('x');
  for (let i = 0; i < 60; i++) value = program.step(`${i}${'x'.repeat(120)}`, 'Relu', { self: value });
  program.output('y', value);
  const self = await session.tensor([-1, 2]);
  const outputs = { y: session.empty([2]) };
  // But for the first the plan is known: the event loop has no turn between them.
  for (let i = 0; i < 400; i++) await session.execute(program, { x: self }, {}, { outputs });
  assert.deepEqual(await elements(outputs.y), [0, 2]);
});

test('tensors larger than a chunk', async (t) => {
  const session = await opened(t);
  const large = Float32Array.from({ length: 3 * 2 ** 20 }, (_, i) => i);
  const pieces = [];
  const self = session.empty([large.length]);
  const sent = self.upload(large, { onProgress: (bytes) => pieces.push(bytes) });
  const copy = session.empty([large.length]);
  copy.copyFrom(self); // behind the upload, which has not left yet
  self.fill(7);
  await sent;
  assert.ok(pieces.length > 1 && pieces.reduce((sum, bytes) => sum + bytes) === large.byteLength);
  assert.deepEqual((await copy.download()).data, large);
  assert.ok((await self.download()).data.every((value) => value === 7));
});

test('kinds of tensors', async (t) => {
  const session = await opened(t);
  assert.deepEqual(await elements(session.empty([3])), [0, 0, 0]);
  assert.deepEqual((await (await session.tensor([1n, 2n])).download()).data, BigInt64Array.of(1n, 2n));
  assert.deepEqual(await elements(await session.tensor(2.5)), [2.5]);
  const half = await session.tensor([1.5], { dtype: 'bfloat16' });
  assert.deepEqual((await half.download()).toFloat32(), Float32Array.of(1.5));
  const empty = await session.tensor(tensor(new Float32Array(0), [0, 3]));
  assert.deepEqual((await empty.download()).shape, [0, 3]);
  const columns = await session.tensor(tensor(VALUES, [2, 4], undefined, { strides: [1, 2] }));
  assert.deepEqual(await elements(columns), [0, 2, 4, 6, 1, 3, 5, 7]);
  assert.deepEqual(await elements(session.full([2], true, { dtype: 'bool' })), [1, 1]);
  await half.upload([0.5]);
  assert.deepEqual((await half.download()).toFloat32(), Float32Array.of(0.5));
  await assert.rejects(half.upload(x), { message: 'want a tensor bfloat16[1], got float32[4, 2]' });
  assert.equal(String(half), 'DeviceTensor bfloat16[1]');
});

test('numbers take the dtype of the tensors beside them', async (t) => {
  const session = await opened(t);
  const self = await session.tensor([1, 2], { dtype: 'float16' });
  const { out } = await session.execute('Add', { self, other: 0.5 });
  assert.equal(out.dtype, 'float16');
  assert.deepEqual((await out.download()).toFloat32(), Float32Array.of(1.5, 2.5));
});

test('streams and events', async (t) => {
  const session = await opened(t);
  const [first, second] = [session.stream(), session.stream()];
  const [self, copy] = [session.empty([1000, 1000]), session.empty([1000, 1000])];
  const start = session.event().record({ stream: first });
  self.fill(3, { stream: first });
  const done = session.event().record({ stream: first });
  second.wait(done);
  copy.copyFrom(self, { stream: second });
  assert.ok((await copy.download({ stream: second })).data.every((value) => value === 3));
  await done.synchronize();
  assert.equal(await done.isReached(), true);
  assert.ok((await done.millisecondsSince(start)) >= 0);
  await first.synchronize();
  assert.equal(await first.isIdle(), true);
});

test('a refused command rejects where it is waited for, with its number', async (t) => {
  const session = await opened(t);
  const self = await session.tensor(x);
  const { out } = await session.execute('Relu', { self });
  self.copyFrom(session.empty([3]));
  await assert.rejects(out.download(), (error) => {
    assert.ok(error instanceof InvalidArgumentError && error.command > 0);
    assert.match(error.message, new RegExp(`\\(command ${error.command}\\)$`));
    return true;
  });
  assert.deepEqual(await elements(out), [...VALUES]); // and the session goes on
});

test('a failure in its turn stops what follows until it is told', async (t) => {
  const session = await opened(t);
  const target = await session.tensor([0n, 9n]); // a class that is none is seen only when the kernel looks at it
  const loss = await session.plan('NLLLoss', { self: session.empty([2, 3]), target }, { reduction: 'none' });
  const y = session.empty([2]);
  loss.run();
  y.fill(5);
  await assert.rejects(y.download(), (error) => error.reason !== 'STREAM_FAILED' && error.command > 0);
  y.fill(6);
  assert.deepEqual(await elements(y), [6, 6]);
  await target.upload([0n, 1n]);
  assert.deepEqual(await elements(loss.run().out), [-0, -0]);
});

test('the end tells what was not told', async () => {
  const session = await client.session();
  session.empty([3]).copyFrom(session.empty([4]));
  await assert.rejects(session.close(), InvalidArgumentError);
  assert.throws(() => session.empty([1]), { code: 'CANCELLED' });
});

test('memory is freed by free, by the garbage collector, and counted', async (t) => {
  const session = await opened(t);
  const used = async () => (await session.memory()).usedBytes;
  const before = await used();
  const self = session.empty([2 ** 20]);
  assert.ok((await used()) >= before + 2 ** 22);
  self.free();
  self.free(); // once is enough
  assert.ok((await used()) < before + 2 ** 22);
});

const COLLECTED = `
  import { setTimeout as sleep } from 'node:timers/promises';
  import { connect } from '@opserve/client';
  const client = await connect();
  const session = await client.session();
  for (let i = 0; i < 8; i++) session.empty([2 ** 20]).fill(1);
  await session.synchronize();
  let used;
  for (let tries = 0; tries < 100; tries++) {
    gc();
    await sleep(20);
    used = (await session.memory()).usedBytes;
    if (used === 0) break;
  }
  await session.close();
  client.close();
  console.log(used);`;

test('what the program drops is freed on the server', () => {
  const words = ['--expose-gc', '--input-type=module', '--eval', COLLECTED];
  const options = {
    encoding: 'utf8',
    env: { ...process.env, OPSERVE_TARGET: server.address },
    cwd: new URL('.', import.meta.url).pathname,
  };
  assert.equal(execFileSync(process.execPath, words, options), '0\n');
});

test('a session ends with its signal, and with its time', async () => {
  const controller = new AbortController();
  const session = await client.session({ signal: controller.signal });
  const waiting = assert.rejects(session.synchronize(), { name: 'AbortError' });
  controller.abort();
  await waiting;
  await assert.rejects(client.session({ signal: AbortSignal.abort() }), { name: 'AbortError' });
  const short = await client.session({ timeoutMs: 3000 });
  await new Promise((resolve) => setTimeout(resolve, 3100));
  await assert.rejects(short.synchronize(), { code: 'DEADLINE_EXCEEDED' });
});

test('an abort drops one command, and the session goes on', async (t) => {
  const session = await opened(t);
  const self = session.full([2 ** 22], 0.5);
  const gelu = await session.plan('Gelu', { self });
  for (let i = 0; i < 20; i++) gelu.run();
  const controller = new AbortController();
  const aborted = assert.rejects(gelu.outputs.out.download({ signal: controller.signal }), { name: 'AbortError' });
  setImmediate(() => controller.abort());
  await aborted;
  assert.equal((await self.download()).data[0], 0.5);
  for (let i = 0; i < 20; i++) gelu.run();
  await assert.rejects(gelu.outputs.out.download({ timeoutMs: 1 }), { code: 'DEADLINE_EXCEEDED' });
  assert.equal((await self.download()).data[0], 0.5);
});

test('a draining server says so', async (t) => {
  const other = await serverForTests(t, ['--grace-period', '5s']);
  const outside = await connect(other.address);
  const session = await outside.session();
  await session.synchronize();
  assert.equal(session.isDraining, false);
  await other.stop();
  await assert.rejects(session.synchronize(), { code: 'UNAVAILABLE' });
  assert.equal(session.isDraining, true);
  outside.close();
});

test('the example', () => {
  const example = new URL('../examples/session.mjs', import.meta.url).pathname;
  const printed = execFileSync(process.execPath, [example, server.address], { encoding: 'utf8' });
  assert.match(printed, /^out -1\.342 -0\.447 .*\nneg_log_likelihood 1\.504\ngrad -0\.167 0\.333 .*\n$/s);
});

const responseOf = (fields) => Buffer.from(toBinary(SessionResponseSchema, create(SessionResponseSchema, fields)));
const opening = {
  answers: [{ answer: { case: 'info', value: { maxMessageBytes: 2n ** 28n, maxQueuedCommands: 1000n } } }],
};
const chunk = (id, fields) => ({
  answers: [{ id, more: true, answer: { case: 'chunk', value: fields } }],
  raw: [new Uint8Array(4)],
});
const ended = (id) => ({ answers: [{ id }] });
// Commands 1 to 4 make a context, a buffer and a stream, and download the buffer's 8 bytes.
const WRONG = {
  'bytes that are no message': [Buffer.from([0xff]), /it is no SessionResponse/],
  'an answer to nobody': [ended(99n), /command 99 is not under way/],
  'a chunk without bytes': [chunk(4n, { rawIndex: 7 }), /a chunk for command 4/],
  'a chunk for what has none': [chunk(2n, {}), /a chunk for command 2/],
  'a chunk out of place': [chunk(4n, { offsetBytes: 4n }), /a chunk is out of place/],
  'a chunk beyond the end': [{ ...chunk(4n, {}), raw: [new Uint8Array(9)] }, /a chunk is out of place/],
  'too few bytes': [{ answers: [1n, 2n, 3n, 4n].map((id) => ({ id })) }, /0 of 8 bytes came/],
};

const limitless = { answers: [{ answer: { case: 'info', value: { maxMessageBytes: -1n, maxQueuedCommands: -1n } } }] };

for (const [name, [answer, message]] of Object.entries(WRONG)) {
  for (const first of [opening, limitless]) {
    test(`a session's answer that makes no sense: ${name}${first === opening ? '' : ', and so do its limits'}`, () => {
      const session = (rpc) => {
        rpc.write(responseOf(first));
        rpc.once('data', () => rpc.write(Buffer.isBuffer(answer) ? answer : responseOf(answer)));
        rpc.on('error', () => undefined);
      };
      return serving({ steps: [info()], session }, async (address) => {
        const other = await connect(address);
        const talk = await other.session({ timeoutMs: 20_000 });
        const wrong = talk.empty([2]).download();
        await assert.rejects(wrong, (error) => error instanceof InternalError && message.test(error.message));
        talk.cancel();
        other.close();
      });
    });
  }
}
