// The package as npm packs it, in an empty project, and the size of its file.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

import { checkLock, checkProject, run } from '../../node/tests/support/project.mjs';
import { serverForTests } from '../../node/tests/support/server.mjs';

const PACKAGE = fileURLToPath(new URL('..', import.meta.url));
const server = await serverForTests(test, ['--http', '127.0.0.1:0']);

test('the package in an empty project, from JavaScript and from TypeScript', (t) => {
  const typed = `import { connect } from '@opserve/web';
     const client = await connect('http://localhost:8600');
     export const { out }: { out: { shape: readonly number[] } } = await client.execute('Relu', { self: 1 });
     // @ts-expect-error: an input is missing
     await client.execute('Relu', {});`;
  const project = checkProject(t, PACKAGE, { address: server.http, typed, lib: 'es2022,dom' });
  assert.deepEqual(Object.keys(JSON.parse(run('npm', ['ls', '--all', '--json'], project)).dependencies), [
    '@opserve/web',
  ]);
});

test('the file is alone, and as small as the guide says', () => {
  const text = readFileSync(`${PACKAGE}dist/opserve.js`, 'utf8');
  assert.doesNotMatch(text, /\bimport\s*[({"'*]|\brequire\(|node:/);
  const [, kilobytes] = /of (\d+) KB\s+with gzip/.exec(readFileSync(`${PACKAGE}../../docs/web.md`, 'utf8'));
  const size = gzipSync(text, { level: 9 }).length;
  assert.equal(Math.ceil(size / 1000), Number(kilobytes), `${size} bytes`);
});

test('the lock file names no registry', () => checkLock(PACKAGE));
