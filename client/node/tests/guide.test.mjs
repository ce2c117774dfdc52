// docs/typescript.md: its code compiles as TypeScript, and prints what the page says.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

import { serverForTests } from './support/server.mjs';

const PACKAGE = fileURLToPath(new URL('..', import.meta.url));
const FOLDER = `${PACKAGE}build/guide`; // below the package, so that '@opserve/client' is this one
const TARGET = 'localhost:8500';
const ARROW = /^\/\/ → (.*)$/gm;

const server = await serverForTests(test);

test('the code of the guide', () => {
  const page = readFileSync(`${PACKAGE}../../docs/typescript.md`, 'utf8');
  const blocks = [...page.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, text]) => text);
  const text = blocks.join('\n');
  assert.ok(text.includes(TARGET));
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(`${FOLDER}/guide.ts`, text.replaceAll(TARGET, server.address));
  const config = {
    extends: '../../tests/tsconfig.json',
    compilerOptions: { noEmit: false, rootDir: '.', outDir: '.' },
    files: ['guide.ts'],
    include: [],
  };
  writeFileSync(`${FOLDER}/tsconfig.json`, JSON.stringify(config));
  execFileSync(`${PACKAGE}node_modules/.bin/tsc`, ['-p', FOLDER], { stdio: 'inherit' });
  const printed = execFileSync(process.execPath, [`${FOLDER}/guide.js`], { encoding: 'utf8' });
  const shown = [...text.matchAll(ARROW)].map(([, line]) => line);
  // console.log breaks arrays of more than six elements into lines: words are what is compared.
  assert.equal(printed.replace(/\s+/g, ' ').trim(), shown.join(' ').replace(/\s+/g, ' '));
});
