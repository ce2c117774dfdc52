// The code of a guide: it compiles as TypeScript, and prints what the page says.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

const ARROW = /^\/\/ → (.*)$/gm;

/** Runs a page's code in the folder of a package, with `address` where the page has `target`. */
export function checkGuide(page, folder, target, address) {
  const blocks = [...readFileSync(page, 'utf8').matchAll(/^```ts\n(.*?)^```$/gms)].map(([, text]) => text);
  const text = blocks.join('\n');
  assert.ok(text.includes(target));
  const built = `${folder}build/guide`; // below the package, so that its name is this one
  rmSync(built, { recursive: true, force: true });
  mkdirSync(built, { recursive: true });
  writeFileSync(`${built}/guide.ts`, text.replaceAll(target, address));
  const config = {
    extends: '../../tests/tsconfig.json',
    compilerOptions: { noEmit: false, rootDir: '.', outDir: '.' },
    files: ['guide.ts'],
    include: [],
  };
  writeFileSync(`${built}/tsconfig.json`, JSON.stringify(config));
  execFileSync(`${folder}node_modules/.bin/tsc`, ['-p', built], { stdio: 'inherit' });
  const printed = execFileSync(process.execPath, [`${built}/guide.js`], { encoding: 'utf8' });
  const shown = [...text.matchAll(ARROW)].map(([, line]) => line);
  // console.log breaks arrays of more than six elements into lines: words are what is compared.
  assert.equal(printed.replace(/\s+/g, ' ').trim(), shown.join(' ').replace(/\s+/g, ' '));
}
