// Encrypted connections, with certificates of openssl.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';

import { connect, tensor } from '@opserve/client';

import { serverForTests } from './support/server.mjs';

const folder = mkdtempSync(join(tmpdir(), 'opserve-'));
test.after(() => rmSync(folder, { recursive: true }));
const file = (name) => join(folder, name);
const openssl = (...words) => execFileSync('openssl', words, { cwd: folder, stdio: 'pipe' });

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/** A certificate for `name`, by the authority. */
function issue(name, extensions) {
  writeFileSync(file(`${name}.ext`), extensions);
  openssl('req', ...NEW_KEY, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${name}`);
  const by = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', `${name}.ext`];
  openssl('x509', '-req', '-in', `${name}.csr`, ...by, '-days', '2', '-out', `${name}.pem`);
}

openssl('req', '-x509', ...NEW_KEY, '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '2', '-subj', '/CN=authority');
issue('server', 'subjectAltName=DNS:gradients.example\n');
issue('client', 'subjectAltName=DNS:someone.example\n');

const ca = readFileSync(file('ca.pem'));
const [cert, key] = [readFileSync(file('client.pem'), 'utf8'), readFileSync(file('client.key'), 'utf8')];
const servername = 'gradients.example';
const flags = ['--tls-cert', file('server.pem'), '--tls-key', file('server.key')];

const server = await serverForTests(test, flags);
const mutual = await serverForTests(test, [...flags, '--tls-client-ca', file('ca.pem')]);

async function relu(address, options) {
  const client = await connect(address, options);
  try {
    return (await client.execute('Relu', { self: tensor([-1, 2]) })).out.data;
  } finally {
    client.close();
  }
}

test('a server shows its certificate', async () => {
  assert.deepEqual(await relu(server.address, { tls: { ca, servername }, token: 'goes along' }), Float32Array.of(0, 2));
});

test('a client shows its own', async () => {
  assert.deepEqual(await relu(mutual.address, { tls: { ca, cert, key, servername } }), Float32Array.of(0, 2));
});

for (const [name, address, tls] of [
  ['an authority that Node does not trust', server.address, true],
  ['another name', server.address, { ca }],
  ['no certificate of the client', mutual.address, { ca, servername }],
  ['clear text', server.address, false],
]) {
  test(`refused: ${name}`, () => assert.rejects(relu(address, { tls, timeoutMs: 3000 }), { code: 'UNAVAILABLE' }));
}
