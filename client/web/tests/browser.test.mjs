// The built bundle in a headless Chromium, in a page of another origin than the server's.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import test from 'node:test';

import { startServer } from '../../node/tests/support/server.mjs';
import { findChromium, showing } from './support/chromium.mjs';

const PACKAGE = new URL('..', import.meta.url);
const FILES = {
  '/': ['tests/support/page.html', 'text/html'],
  '/page.mjs': ['tests/support/page.mjs', 'text/javascript'],
  '/dist/opserve.js': ['dist/opserve.js', 'text/javascript'],
  '/examples/gradient.html': ['examples/gradient.html', 'text/html'],
};

/** Serves the page; gives its origin, and a promise of what it sends. */
async function pageServer(t) {
  let told;
  const result = new Promise((resolve) => (told = resolve));
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://page');
    if (request.method === 'POST') {
      let text = '';
      request.on('data', (piece) => (text += piece)).on('end', () => (response.end(), told(JSON.parse(text))));
      return;
    }
    const [file, type] = FILES[pathname] ?? [];
    response.writeHead(file === undefined ? 404 : 200, { 'Content-Type': type ?? 'text/plain' });
    response.end(file === undefined ? '' : readFileSync(new URL(file, PACKAGE)));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => (server.closeAllConnections(), server.close()));
  return { origin: `http://127.0.0.1:${server.address().port}`, result };
}

async function serverFor(t, flags) {
  const server = await startServer(['--http', '127.0.0.1:0', ...flags]);
  t.after(server.stop);
  return server.http;
}

const program = findChromium();
const required = process.env.OPSERVE_REQUIRE_TOOLCHAINS === '1';

test('a page of another origin', { skip: program === undefined && !required && 'no Chromium' }, async (t) => {
  assert.ok(program !== undefined, 'OPSERVE_REQUIRE_TOOLCHAINS=1, and this machine lacks Chromium');
  const page = await pageServer(t);
  const allowing = await serverFor(t, ['--http-allow-origin', page.origin]);
  const refusing = await serverFor(t, []);
  const url = `${page.origin}/?${new URLSearchParams({ allowing, refusing })}`;
  const told = await showing(program, url, page.result);
  assert.equal(told.failure, undefined);
  assert.deepEqual(told.gradient, { shape: [4, 2], values: [-1, 0, 1, 1, 1, 1, 1, 1] });
  assert.equal(told.example, 'grad_input -1 0 1 1 1 1 1 1');
  assert.deepEqual(told.halves, { dtype: 'float16', values: [1.5, 2.5] });
  assert.deepEqual(told.large, { size: 1 << 20, last: (1 << 20) - 1, aligned: true });
  assert.deepEqual(told.error, {
    name: 'InvalidArgumentError',
    code: 'INVALID_ARGUMENT',
    reason: 'OUT_OF_RANGE',
    parameter: 'beta',
    got: '-1',
  });
  assert.equal(told.aborted, 'AbortError');
  assert.deepEqual(told.refused, {
    code: 'UNAVAILABLE',
    message:
      `UNAVAILABLE: no answer from ${refusing}/: is a server there, and does its --http-allow-origin name ` +
      `this page's origin, ${page.origin}?`,
  });
});
