// Answers that no good server gives: each ends in an error that says what is wrong, and none takes memory that a header promises.

import assert from 'node:assert/strict';
import test from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { connect, InternalError, OpserveError } from '@opserve/web';

import { answer, metadata, output, outputs, serving } from './support/http.mjs';

const bytes = (size) => Buffer.alloc(size);
const huge = 2 ** 52;

/** What a call rejects with when it is answered so. */
async function errorOf(step, options = {}) {
  return serving([metadata, step], async (url) => {
    const client = await connect(url, options);
    const error = await client.execute('Relu', { self: 1 }, {}, options).catch((caught) => caught);
    assert.ok(error instanceof OpserveError, String(error));
    return error;
  });
}

for (const [name, step, message] of [
  ['no length of its JSON', answer(200, '{}'), 'want the header Inference-Header-Content-Length, got none'],
  [
    'a length that is no number',
    outputs([], bytes(0), { 'Inference-Header-Content-Length': '-1' }),
    'Inference-Header-Content-Length: want a number of bytes up to 1048576, got -1',
  ],
  [
    'a length beyond all bounds',
    outputs([], bytes(0), { 'Inference-Header-Content-Length': '9'.repeat(40) }),
    `Inference-Header-Content-Length: want a number of bytes up to 1048576, got ${'9'.repeat(32)}`,
  ],
  [
    'JSON that is said to be longer than the body',
    outputs([], bytes(0), { 'Inference-Header-Content-Length': 1000 }),
    '14 bytes, of which 1000 are said to be JSON',
  ],
  ['JSON that is cut', outputs([], bytes(0), { 'Inference-Header-Content-Length': 3 }), /^it is no JSON: /],
  [
    'JSON that is no UTF-8',
    outputs([output({ name: 'x' })], bytes(4)).map((byte) => (byte === 0x78 ? 0xff : byte)),
    /./,
  ],
  ['a list', outputs('[]'), 'answer: want an object, got a list'],
  ['nothing', outputs('null'), 'answer: want an object, got null'],
  ['no outputs', outputs('{}'), 'outputs: want a list, got nothing'],
  ['outputs by inheritance', outputs('{"__proto__":{"outputs":[]}}'), 'outputs: want a list, got nothing'],
  ['an output that is a number', outputs([1]), 'output: want an object, got number'],
  [
    'an output without a name',
    outputs([output({ name: undefined })], bytes(4)),
    'name of an output: want a text, got nothing',
  ],
  ['an unknown datatype', outputs([output({ datatype: 'BYTES' })], bytes(4)), 'output out has the datatype BYTES'],
  [
    'a datatype by inheritance',
    outputs([output({ datatype: 'toString' })], bytes(4)),
    'output out has the datatype toString',
  ],
  [
    'a shape that is no list',
    outputs([output({ shape: 4 })], bytes(4)),
    'shape of output out: want a list, got number',
  ],
  [
    'a negative extent',
    outputs([output({ shape: [-1] })], bytes(4)),
    'shape of output out: want a whole number >= 0, got -1',
  ],
  [
    'a broken extent',
    outputs([output({ shape: [0.5] })], bytes(4)),
    'shape of output out: want a whole number >= 0, got 0.5',
  ],
  ['a shape of other bytes', outputs([output({ shape: [2] })], bytes(4)), 'output out of float32[2] has 4 bytes'],
  [
    'a shape whose product overflows',
    outputs([output({ shape: [huge, huge, 4], parameters: { binary_data_size: 0 } })]),
    `output out of float32[${huge}, ${huge}, 4] has 0 bytes`,
  ],
  [
    'an output of more bytes than came',
    outputs([output({ shape: [2 ** 40], parameters: { binary_data_size: 2 ** 42 } })], bytes(4)),
    `output out is said to have ${2 ** 42} bytes, and 4 came`,
  ],
  ['bytes that are no output', outputs([output()], bytes(9)), '5 bytes behind its outputs'],
  ['an output twice', outputs([output(), output()], bytes(8)), 'output out comes twice'],
  [
    'tensors as JSON',
    outputs([{ ...output(), parameters: {}, data: [1] }]),
    /^binary_data_size of output out: want a whole/,
  ],
]) {
  test(`an answer with ${name}`, async () => {
    const error = await errorOf(step);
    assert.ok(error instanceof InternalError);
    const [, text] = /^INTERNAL: the server's answer makes no sense: (.*)$/s.exec(error.message);
    if (message instanceof RegExp) assert.match(text, message);
    else assert.equal(text, message);
  });
}

test('outputs that were asked for and did not come', async () => {
  await serving([metadata, outputs([output()], bytes(4))], async (url) => {
    const client = await connect(url);
    const pending = client.execute('Relu', { self: 1 }, {}, { outputs: ['other'] });
    await assert.rejects(pending, { message: /output other is missing$/ });
  });
});

test('an output with the name of what all objects have', async () => {
  await serving([metadata, outputs([output({ name: '__proto__' })], bytes(4))], async (url) => {
    const found = await (await connect(url)).execute('Relu', { self: 1 });
    assert.deepEqual(Object.keys(found), ['__proto__']);
    assert.equal(Object.getPrototypeOf(found), Object.prototype);
  });
});

test('a body that is cut is a connection that broke, and tried again', async () => {
  const cut = outputs([output()], bytes(4), { 'Content-Length': 5000 });
  const error = await errorOf(cut);
  assert.equal(error.code, 'UNAVAILABLE');
  assert.match(error.message, /^UNAVAILABLE: http:\/\/127\.0\.0\.1:\d+\/ broke off its answer$/);
  await serving([metadata, cut, outputs([output()], bytes(4))], async (url, requests) => {
    assert.equal((await (await connect(url)).execute('Relu', { self: 1 })).out.size, 1);
    assert.equal(requests.length, 3);
  });
});

test('a length that promises too much is refused before the body comes', async () => {
  const error = await errorOf(outputs([output()], bytes(4), { 'Content-Length': 2 ** 50 }));
  assert.equal(error.code, 'RESOURCE_EXHAUSTED');
  assert.match(error.message, /answer: want at most 268435456 bytes/);
});

test('a body without a length is read to its bound, not beyond', async () => {
  let sent = 0;
  const endless = (_, socket) => {
    socket.write('HTTP/1.1 200 OK\r\nInference-Header-Content-Length: 2\r\n\r\n');
    const piece = bytes(64 << 10);
    const more = () => {
      while (!socket.destroyed && socket.write(piece)) sent += piece.length;
    };
    socket.on('drain', more);
    more();
  };
  const error = await errorOf(endless, { maxAnswerBytes: 1 << 20 });
  assert.equal(error.code, 'RESOURCE_EXHAUSTED');
  assert.ok(sent < 64 << 20, `${sent} bytes were taken`);
});

test('a body that does not come ends with the deadline', async () => {
  const slow = (_, socket) =>
    void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\nInference-Header-Content-Length: 2\r\n\r\n{');
  const error = await errorOf(slow, { timeoutMs: 300 });
  assert.deepEqual([error.code, error.message], ['DEADLINE_EXCEEDED', 'DEADLINE_EXCEEDED: the deadline passed']);
  const silent = await errorOf(() => undefined, { timeoutMs: 300 });
  assert.equal(silent.code, 'DEADLINE_EXCEEDED');
});

// Node's fetch has lost a signal where its own objects were collected (nodejs/undici#4627).
test('the deadline survives a garbage collection', { timeout: 60_000 }, async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  const collecting = setInterval(collect, 50);
  try {
    const slow = (_, socket) =>
      void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\nInference-Header-Content-Length: 2\r\n\r\n{');
    const error = await errorOf(slow, { timeoutMs: 1000 });
    assert.equal(error.code, 'DEADLINE_EXCEEDED');
  } finally {
    clearInterval(collecting);
  }
});

test('what is no HTTP, headers beyond all bounds, and redirects', async () => {
  for (const step of [
    'SSH-2.0-OpenSSH_9.2\r\n',
    answer(200, '{}', { 'X-Long': 'x'.repeat(1 << 20) }),
    answer(307, '', { Location: 'http://127.0.0.1:9/' }),
    '',
  ]) {
    assert.equal((await errorOf(step)).code, 'UNAVAILABLE');
  }
});

test('errors of other programs have the code of their status', async () => {
  const page = '<html>Bad Gateway</html>';
  for (const [status, body, code] of [
    [401, page, 'UNAUTHENTICATED'],
    [404, page, 'NOT_FOUND'],
    [413, page, 'RESOURCE_EXHAUSTED'],
    [418, page, 'UNKNOWN'],
    [500, 'null', 'INTERNAL'],
    [500, '[]', 'INTERNAL'],
    [501, '{"error":{"a":1},"code":"OK","info":[]}', 'UNIMPLEMENTED'],
    [504, bytes(1 << 20), 'DEADLINE_EXCEEDED'],
  ]) {
    const error = await errorOf(answer(status, body));
    assert.equal(error.code, code);
    assert.equal(error.message, `${code}: the server answered with the status ${status}`);
    assert.equal(error.aclnnCode, undefined);
  }
});

test('the parts of an error are texts that can be shown', async () => {
  const info = {
    reason: 'OUT_OF\u0007RANGE',
    metadata: { code: '1e9', got: 7, want: 'x'.repeat(9000), operator: null },
  };
  const error = await errorOf(answer(400, JSON.stringify({ error: 'a\nb', code: 'OUT_OF_RANGE', info })));
  assert.equal(error.message, 'OUT_OF?RANGE: a?b');
  assert.deepEqual([error.code, error.aclnnCode, error.got, error.operator], ['OUT_OF_RANGE', undefined, '', '']);
  assert.equal(error.want.length, 4097);
});

test('questions are answered with what makes sense, or not at all', async () => {
  const cases = [
    [(client) => client.operators(), '{}', 'answer: want a list, got object'],
    [(client) => client.operators(), '[{"name":7}]', 'name of an operator: want a text, got number'],
    [(client) => client.operator('Relu'), '{"name":"Relu"}', 'input: want a list, got nothing'],
    [
      (client) => client.operator('Relu'),
      '{"name":"Relu","input":[{"name":"self","data_type":"TYPE_STRING"}]}',
      'self has the data_type TYPE_STRING',
    ],
  ];
  for (const [ask, body, message] of cases) {
    await serving([metadata, answer(200, body)], async (url) => {
      const pending = ask(await connect(url));
      await assert.rejects(pending, { message: `INTERNAL: the server's answer makes no sense: ${message}` });
    });
  }
  await assert.rejects(
    serving([answer(200, 'hello')], (url) => connect(url)),
    { message: /^INTERNAL: the server's answer makes no sense: it is no JSON: / },
  );
});
