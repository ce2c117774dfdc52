// A server of the test's own, which answers each request with the bytes that the test says, and ends the connection.

import { createServer } from 'node:net';

const END_OF_HEAD = '\r\n\r\n';

/** Serves while `body(url, requests)` runs. `steps`: bytes or text, or a function of a request that gives them or ends the socket itself. */
export async function serving(steps, body) {
  const requests = [];
  const sockets = new Set();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
    let received = Buffer.alloc(0);
    socket.on('data', (bytes) => {
      received = Buffer.concat([received, bytes]);
      const request = requestOf(received);
      if (request === undefined || socket.answered) return;
      socket.answered = true;
      requests.push(request);
      const step = steps[requests.length - 1] ?? steps.at(-1);
      const told = typeof step === 'function' ? step(request, socket) : step;
      if (told !== undefined) socket.end(told);
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await body(`http://127.0.0.1:${server.address().port}`, requests);
  } finally {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
}

/** A request that came whole; undefined before. */
function requestOf(bytes) {
  const end = bytes.indexOf(END_OF_HEAD);
  if (end < 0) return undefined;
  const [line, ...rest] = bytes.toString('latin1', 0, end).split('\r\n');
  const headers = Object.fromEntries(
    rest.map((text) => [text.slice(0, text.indexOf(':')).toLowerCase(), text.slice(text.indexOf(':') + 1).trim()]),
  );
  const body = bytes.subarray(end + END_OF_HEAD.length);
  return body.length < Number(headers['content-length'] ?? 0) ? undefined : { line, headers, body };
}

/** An answer; `Content-Length` is right unless `headers` says otherwise. */
export function answer(status, body, headers = {}) {
  const bytes = Buffer.from(body);
  const lines = Object.entries({ 'Content-Length': bytes.length, ...headers })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status} Told\r\n${lines.join('')}\r\n`), bytes]);
}

/** The answer to `connect`. */
export const metadata = answer(200, JSON.stringify({ name: 'opserve', version: '7', extensions: [] }));

/** The answer to a call: JSON, with bytes behind it. */
export function outputs(described, bytes = Buffer.alloc(0), headers = {}) {
  const json = Buffer.from(typeof described === 'string' ? described : JSON.stringify({ outputs: described }));
  const length = { 'Inference-Header-Content-Length': json.length, ...headers };
  return answer(200, Buffer.concat([json, bytes]), length);
}

/** An output as an answer describes it. */
export function output(fields = {}) {
  return { name: 'out', datatype: 'FP32', shape: [1], parameters: { binary_data_size: 4 }, ...fields };
}
