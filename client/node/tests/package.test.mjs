// The package as npm packs it, in an empty project; and what is generated in it.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

import { serverForTests } from './support/server.mjs';

const PACKAGE = fileURLToPath(new URL('..', import.meta.url));
const server = await serverForTests(test);
const run = (program, words, cwd) => execFileSync(program, words, { cwd, encoding: 'utf8' });

test('the package in an empty project, from JavaScript and from TypeScript', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'opserve-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const [packed] = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', folder], PACKAGE));
  const tops = new Set(packed.files.map(({ path }) => path.split('/')[0]));
  assert.deepEqual([...tops].sort(), ['LICENSE', 'README.md', 'dist', 'examples', 'package.json']);
  assert.ok(packed.files.some(({ path }) => path === 'dist/generated/catalogue.d.ts'));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'somebody', private: true, type: 'module' }));
  const options = ['--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts'];
  run('npm', ['install', ...options, join(folder, packed.filename)], folder);
  cpSync(`${PACKAGE}examples/gradient.mjs`, join(folder, 'gradient.mjs'));
  const printed = run(process.execPath, ['gradient.mjs', server.address], folder);
  assert.equal(printed, 'grad_input -1 0 1 1 1 1 1 1\n');
  writeFileSync(
    join(folder, 'typed.ts'),
    `import { connect } from '@opserve/client';
     const client = await connect();
     export const { out }: { out: { shape: readonly number[] } } = await client.execute('Relu', { self: 1 });
     // @ts-expect-error: an input is missing
     await client.execute('Relu', {});`,
  );
  const strict = [
    '--noEmit',
    '--strict',
    '--target',
    'es2022',
    '--module',
    'nodenext',
    '--lib',
    'es2022,esnext.disposable',
  ];
  run(`${PACKAGE}node_modules/.bin/tsc`, [...strict, 'typed.ts'], folder);
});

test('the messages are those of the .proto files', () => {
  run(process.execPath, ['generate_messages.mjs', '--check'], PACKAGE);
});

test('the lock file names no registry', () => {
  const lock = JSON.parse(readFileSync(`${PACKAGE}package-lock.json`, 'utf8'));
  for (const [name, entry] of Object.entries(lock.packages)) {
    assert.equal(entry.resolved, undefined, name);
    assert.ok(name === '' || entry.integrity, name);
  }
});
