// A package as npm packs it, in an empty project.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const run = (program, words, cwd) => execFileSync(program, words, { cwd, encoding: 'utf8' });

const STRICT = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext', '--lib'];

/** Installs what is packed of the folder into an empty project, runs examples/gradient.mjs there, and compiles a text. */
export function checkProject(t, folder, { address, typed, lib }) {
  const project = mkdtempSync(join(tmpdir(), 'opserve-'));
  t.after(() => rmSync(project, { recursive: true }));
  const [packed] = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', project], folder));
  const paths = packed.files.map(({ path }) => path);
  const tops = new Set(paths.map((path) => path.split('/')[0]));
  assert.deepEqual([...tops].sort(), ['LICENSE', 'README.md', 'dist', 'examples', 'package.json']);
  assert.ok(paths.some((path) => path.endsWith('generated/catalogue.d.ts')));
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'somebody', private: true, type: 'module' }));
  const options = ['--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts'];
  run('npm', ['install', ...options, join(project, packed.filename)], project);
  cpSync(`${folder}examples/gradient.mjs`, join(project, 'gradient.mjs'));
  const printed = run(process.execPath, ['gradient.mjs', address], project);
  assert.equal(printed, 'grad_input -1 0 1 1 1 1 1 1\n');
  writeFileSync(join(project, 'typed.ts'), typed);
  run(`${folder}node_modules/.bin/tsc`, [...STRICT, lib, 'typed.ts'], project);
  return project;
}

/** The lock file has hashes, and not where packages come from. */
export function checkLock(folder) {
  const lock = JSON.parse(readFileSync(`${folder}package-lock.json`, 'utf8'));
  for (const [name, entry] of Object.entries(lock.packages)) {
    assert.equal(entry.resolved, undefined, name);
    assert.ok(name === '' || entry.integrity, name);
  }
}
