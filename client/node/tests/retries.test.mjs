// Retries, targets, and servers that mean harm: against a server of the test's own.

import assert from 'node:assert/strict';
import test from 'node:test';

import { create, toBinary } from '@bufbuild/protobuf';
import { status } from '@grpc/grpc-js';
import { call, connect, InternalError, ResourceError } from '@opserve/client';

import * as api from '../dist/generated/opserve/v1/operator_service_pb.js';
import { busy, info, serving, unavailable } from './support/fake.mjs';

const bytesOf = (schema, fields) => Buffer.from(toBinary(schema, create(schema, fields)));
const answer = (fields) => bytesOf(api.ExecuteResponseSchema, fields);

test('what is unavailable is tried again', () =>
  serving({ steps: [unavailable, unavailable, info(), unavailable, info()] }, async (address, calls) => {
    const client = await connect(address, { timeoutMs: 20_000 });
    assert.equal((await client.info()).version, '7');
    assert.equal(calls.length, 5);
    client.close();
  }));

test('four tries, and no more', () =>
  serving({ steps: Array(9).fill(unavailable) }, async (address, calls) => {
    await assert.rejects(connect(address), { code: 'UNAVAILABLE', message: 'UNAVAILABLE: draining' });
    assert.equal(calls.length, 4);
  }));

for (const when of [{ retryMs: 300 }, { pushbackMs: 300 }]) {
  test(`the server says how long to wait: ${Object.keys(when)}`, () =>
    serving({ steps: [info(), busy(when), info()] }, async (address, calls) => {
      const client = await connect(address);
      const start = Date.now();
      await client.info();
      assert.ok(Date.now() - start >= 299);
      assert.equal(calls.length, 3);
      client.close();
    }));
}

test('what no waiting changes is not tried again', () =>
  serving({ steps: [info(), busy({})] }, async (address, calls) => {
    const client = await connect(address);
    await assert.rejects(client.info(), { reason: 'RESOURCE_LIMIT', retryAfterMs: undefined });
    assert.equal(calls.length, 2);
    client.close();
  }));

test('no try begins behind the deadline', () =>
  serving({ steps: [info(), busy({ retryMs: 60_500 })] }, async (address, calls) => {
    const client = await connect(address, { timeoutMs: 30_000 });
    const start = Date.now();
    await assert.rejects(client.info(), (error) => error instanceof ResourceError && error.retryAfterMs === 60_500);
    assert.ok(Date.now() - start < 20_000);
    assert.equal(calls.length, 2);
    client.close();
  }));

test('an abort ends a wait between tries', () =>
  serving({ steps: [info(), busy({ retryMs: 20_000 })] }, async (address) => {
    const client = await connect(address, { timeoutMs: 60_000 });
    const controller = new AbortController();
    const start = Date.now();
    const told = assert.rejects(client.info({ signal: controller.signal }), { name: 'AbortError' });
    setTimeout(() => controller.abort(), 200);
    await told;
    assert.ok(Date.now() - start < 15_000);
    client.close();
  }));

test('the server hears of an abort', () => {
  const controller = new AbortController();
  let cancelled;
  const heard = new Promise((resolve) => (cancelled = resolve));
  const slow = (call) => {
    call.on('cancelled', cancelled);
    controller.abort();
    return new Promise(() => undefined);
  };
  return serving({ steps: [info(), slow] }, async (address) => {
    const client = await connect(address);
    await assert.rejects(client.info({ signal: controller.signal }), { name: 'AbortError' });
    await heard;
    client.close();
  });
});

test('a token goes with each call', () =>
  serving({ steps: [info(), info()] }, async (address, calls) => {
    const client = await connect(address, { token: 'secret' });
    await client.info();
    assert.deepEqual(
      calls.map((metadata) => metadata.get('authorization')),
      [['Bearer secret'], ['Bearer secret']],
    );
    client.close();
  }));

test('a list of targets: the next one answers where one is unavailable', () =>
  serving({ steps: [info(), unavailable, unavailable] }, (first, firstCalls) =>
    serving({ steps: [info({ version: '8' }), info({ version: '8' })] }, async (second, secondCalls) => {
      const client = await connect([first, second]);
      assert.equal((await client.info()).version, '8');
      assert.equal((await client.info()).version, '8');
      assert.deepEqual([firstCalls.length, secondCalls.length], [2, 2]);
      client.close();
    }),
  ));

test('round robin goes to all addresses of a target', () => {
  const steps = Array(20).fill(info());
  return serving({ steps }, (first, firstCalls) =>
    serving({ steps }, async (second, secondCalls) => {
      const addresses = [first, second].map((address) => address.replace('localhost', '127.0.0.1')).join();
      const client = await connect(`ipv4:${addresses}`, { roundRobin: true });
      for (let calls = 0; calls < 16; calls++) await client.info();
      assert.ok(firstCalls.length >= 4 && secondCalls.length >= 4, `${firstCalls.length} and ${secondCalls.length}`);
      client.close();
    }),
  );
});

const output = (fields) => ({
  outputs: [{ name: 'out', dtype: 1, shape: [2n], data: { case: 'rawIndex', value: 0 }, ...fields }],
});
const raw = [new Uint8Array(8)];
const WRONG = {
  'no message': [Buffer.from([0x7a, 0xff]), /it is no ExecuteResponse/],
  'a field that never ends': [Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0xff]), /it is no ExecuteResponse/],
  'an entry that is not there': [answer({ ...output({}), raw: [] }), /output out has no bytes/],
  'too few bytes': [answer({ ...output({ shape: [3n] }), raw }), /output out of float32\[3\] has 8 bytes/],
  'a negative shape': [answer({ ...output({ shape: [-2n] }), raw }), /output out has the shape \[-2\]/],
  'a huge shape': [answer({ ...output({ shape: [2n ** 62n, 2n ** 62n] }), raw }), /output out has the shape/],
  'a dtype of another world': [answer({ ...output({ dtype: 77 }), raw }), /output out has the dtype 77/],
  'a dtype that was not asked for': [answer({ ...output({}), raw }), /output out has the dtype float32, want float16/],
  'no output': [answer({}), /output out has the dtype undefined, want float16/],
};

for (const [name, [bytes, message]] of Object.entries(WRONG)) {
  test(`an answer that makes no sense: ${name}`, () =>
    serving({ steps: [info(), bytes] }, async (address) => {
      const client = await connect(address);
      const wrong = client.execute('Relu', { self: [1, 2] }, {}, { outputDtypes: { out: 'float16' } });
      await assert.rejects(wrong, (error) => error instanceof InternalError && message.test(error.message));
      client.close();
    }));
}

test('a batch with too few results', () =>
  serving({ steps: [info(), bytesOf(api.ExecuteBatchResponseSchema, { results: [{}] })] }, async (address) => {
    const client = await connect(address);
    const calls = [call('Relu', { self: 1 }), call('Relu', { self: 1 })];
    await assert.rejects(client.executeBatch(calls), /makes no sense: 1 results of 2 calls/);
    client.close();
  }));

test('an output called __proto__ is an output', () =>
  serving({ steps: [info(), answer({ ...output({ name: '__proto__' }), raw })] }, async (address) => {
    const client = await connect(address);
    const outputs = await client.execute('Relu', { self: 1 });
    assert.deepEqual(Object.keys(outputs), ['__proto__']);
    assert.equal(Object.getPrototypeOf(outputs), Object.prototype);
    client.close();
  }));

test('a text that would mean something to a terminal is shown without it, and cut', () =>
  serving(
    { steps: [info(), { code: status.INTERNAL, details: `\u001b[2J\n${'x'.repeat(6000)}` }] },
    async (address) => {
      const client = await connect(address);
      await assert.rejects(client.info(), (error) => {
        assert.ok(error.message.startsWith('INTERNAL: ?[2J?xxx') && error.message.length < 4200);
        return true;
      });
      client.close();
    },
  ));

test('an answer larger than is taken', () =>
  serving({ steps: [info(), answer({ ...output({}), raw: [new Uint8Array(10_000)] })] }, async (address) => {
    const client = await connect(address, { maxAnswerBytes: 8192 });
    await assert.rejects(client.execute('Relu', { self: 1 }), { code: 'RESOURCE_EXHAUSTED' });
    client.close();
  }));
