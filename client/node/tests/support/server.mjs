// A real opserve-server for tests: $OPSERVE_SERVER, or opserve-server in $OPSERVE_BIN_DIR or $PATH.

import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const { OPSERVE_SERVER, OPSERVE_BIN_DIR } = process.env;
const PROGRAM = OPSERVE_SERVER ?? (OPSERVE_BIN_DIR ? join(OPSERVE_BIN_DIR, 'opserve-server') : 'opserve-server');
const START_MS = 60_000;

/** Starts a server; gives its address, that of `--http`, its folder, and `stop`. `listen` may have {folder} for the folder. */
export async function startServer(flags = [], listen = 'localhost:0') {
  const folder = mkdtempSync(join(tmpdir(), 'opserve-'));
  const portFile = join(folder, 'address');
  const words = ['--listen', listen, '--port-file', portFile, ...flags].map((word) => word.replace('{folder}', folder));
  const server = spawn(PROGRAM, words, { stdio: ['ignore', 'pipe', 'pipe'] });
  let log = '';
  for (const output of [server.stdout, server.stderr]) output.on('data', (text) => (log += text));
  const ended = new Promise((resolve, reject) => server.on('exit', resolve).on('error', reject));
  ended.catch(() => undefined);
  const deadline = Date.now() + START_MS;
  while (!existsSync(portFile)) {
    const state = await Promise.race([ended, sleep(20, 'running')]);
    if (state !== 'running' || Date.now() > deadline) throw new Error(`${PROGRAM} did not start:\n${log}`);
  }
  const addresses = readFileSync(portFile, 'utf8').trim().split('\n'); // it appears whole
  const [address, http] = [addresses[0], addresses.find((one) => one.startsWith('http:'))];
  // Hooks of Node 18 run when nothing else keeps the process.
  const held = [server, server.stdout, server.stderr];
  held.forEach((handle) => handle.unref());
  const stop = async () => {
    held.forEach((handle) => handle.ref());
    server.kill('SIGTERM');
    const status = await ended;
    rmSync(folder, { recursive: true, force: true });
    if (status !== 0) throw new Error(`the server stopped with status ${status}:\n${log}`);
  };
  return { address, http, folder, stop };
}

/** A server for all tests of a file, which ends behind them. */
export async function serverForTests(test, flags, listen) {
  const server = await startServer(flags, listen);
  test.after(server.stop);
  return server;
}
