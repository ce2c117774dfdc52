// A headless Chromium: $OPSERVE_CHROMIUM, or the first in $PATH of those that systems have.

import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];
const WAIT_MS = 60_000;

/** The path of the program; undefined where there is none. */
export function findChromium() {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const found = folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find((path) => existsSync(path));
  return process.env.OPSERVE_CHROMIUM ?? found;
}

/** Shows a page until `done`, a promise, is settled; gives its value. */
export async function showing(program, url, done) {
  const folder = mkdtempSync(join(tmpdir(), 'opserve-chromium-'));
  // As root, and in containers, its own sandbox cannot be had; the pages are the test's.
  const words = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run'];
  const port = '--remote-debugging-port=0'; // it stays until it is ended
  // A group of its own: the program may be a script, which does not pass on that it is to end.
  const options = { stdio: ['ignore', 'ignore', 'pipe'], detached: true };
  const browser = spawn(program, [...words, port, `--user-data-dir=${folder}`, url], options);
  let log = '';
  browser.stderr.on('data', (text) => (log += text));
  const ended = new Promise((resolve, reject) => browser.on('close', resolve).on('error', reject));
  const end = () => browser.exitCode === null && process.kill(-browser.pid, 'SIGTERM');
  process.on('exit', end);
  const failed = (why) => Promise.reject(new Error(`${program} ${why}:\n${log}`));
  try {
    const late = sleep(WAIT_MS, undefined, { ref: false }).then(() => failed('shows no result'));
    return await Promise.race([done, late, ended.then((status) => failed(`ended with status ${status}`))]);
  } finally {
    process.off('exit', end);
    end();
    await ended;
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
