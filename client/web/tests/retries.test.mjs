// What is tried again, when, and what is sent.

import assert from 'node:assert/strict';
import test from 'node:test';

import { connect, tensor } from '@opserve/web';

import { answer, metadata, output, outputs, serving } from './support/http.mjs';

const good = outputs([output()], Buffer.alloc(4));
const failure = (status, fields, headers) => answer(status, JSON.stringify({ error: 'no', ...fields }), headers);
const busy = (retryAfterMs) => failure(429, { code: 'RESOURCE_EXHAUSTED', retry_after_ms: retryAfterMs });

/** How a call ends when it is answered so, how many tries it took, and for how long. */
async function tried(steps, options = {}) {
  return serving([metadata, ...steps], async (url, requests) => {
    const client = await connect(url);
    const start = performance.now();
    const outcome = await client.execute('Relu', { self: 1 }, {}, options).catch((error) => error.code);
    return { outcome, tries: requests.length - 1, ms: performance.now() - start };
  });
}

test('a server that is not available is tried again, four times in all', async () => {
  const unavailable = failure(503, { code: 'UNAVAILABLE' });
  assert.equal((await tried([unavailable, '', good])).tries, 3);
  const never = await tried([unavailable]);
  assert.deepEqual([never.outcome, never.tries], ['UNAVAILABLE', 4]);
  assert.ok(never.ms > 500, `${never.ms}`);
});

test('one that is busy is tried again when it says', async () => {
  const { tries, ms } = await tried([busy(150), good]);
  assert.equal(tries, 2);
  assert.ok(ms >= 145, `${ms}`);
  const seconds = await tried([failure(429, {}, { 'Retry-After': 1 }), good]);
  assert.equal(seconds.tries, 2);
  assert.ok(seconds.ms >= 995, `${seconds.ms}`);
  // Without a time that can be read, the next test says, this is not tried again.
  assert.equal((await tried([failure(429, {}, { 'Retry-After': new Date(0).toUTCString() }), good])).tries, 2);
});

test('what waiting does not change is not tried again', async () => {
  assert.deepEqual((await tried([failure(429, { code: 'RESOURCE_EXHAUSTED' })])).tries, 1);
  assert.deepEqual((await tried([failure(400, {})])).tries, 1);
  const late = await tried([busy(60_000)], { timeoutMs: 2000 });
  assert.deepEqual([late.outcome, late.tries], ['RESOURCE_EXHAUSTED', 1]);
});

test('a signal ends the wait for another try', async () => {
  await serving([metadata, busy(60_000)], async (url) => {
    const client = await connect(url);
    const signal = AbortSignal.timeout(200);
    const pending = client.execute('Relu', { self: 1 }, {}, { signal, timeoutMs: Infinity });
    await assert.rejects(pending, { code: 'DEADLINE_EXCEEDED' });
  });
});

test('a server that is not ready is no error', async () => {
  await serving([metadata, answer(503, '{"ready":false}'), answer(200, ''), answer(500, '')], async (url) => {
    const client = await connect(url);
    assert.equal(await client.isReady(), false);
    assert.equal(await client.isLive(), true);
    await assert.rejects(client.isLive(), { code: 'INTERNAL' });
  });
});

test('what is sent', async () => {
  await serving([metadata, good], async (url, requests) => {
    const client = await connect(`${url}/behind/proxy/`, { token: 'secret' });
    const self = tensor(Uint16Array.of(1, 2), [1, 2], 'bfloat16');
    const attributes = {
      zero: -0,
      large: 2n ** 60n,
      none: undefined,
      name: 'a"b',
      list: Int32Array.of(1, 2),
      inf: [-Infinity],
    };
    await client.execute('Any op', { self }, attributes, { device: 'cpu:1', outputs: ['out'], timeoutMs: 1234 });
    assert.equal(requests[0].line, 'GET /behind/proxy/v2 HTTP/1.1');
    const { line, headers, body } = requests[1];
    assert.equal(line, 'POST /behind/proxy/v2/models/Any%20op/infer HTTP/1.1');
    assert.equal(headers.authorization, 'Bearer secret');
    const json = body.subarray(0, Number(headers['inference-header-content-length'])).toString();
    assert.equal(
      json,
      '{"parameters":{"binary_data_output":true,"opserve_device":"cpu:1","timeout":1234000,"zero":-0.0,' +
        '"large":1152921504606846976,"name":"a\\"b","list":[1,2],"inf":["-Infinity"]},"inputs":[{"name":"self",' +
        '"datatype":"BF16","shape":[1,2],"parameters":{"binary_data_size":4}}],"outputs":[{"name":"out"}]}',
    );
    assert.deepEqual([...body.subarray(json.length)], [1, 0, 2, 0]);
  });
});

test('a fetch of one’s own', async () => {
  await serving([metadata], async (url) => {
    const asked = [];
    const fetchOwn = (target, init) => (asked.push(target), fetch(target, init));
    await connect(url, { fetch: fetchOwn });
    assert.deepEqual(asked, [`${url}/v2`]);
  });
});
