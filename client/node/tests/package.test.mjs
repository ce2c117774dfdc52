// The package as npm packs it, in an empty project; and what is generated in it.

import test from 'node:test';
import { fileURLToPath } from 'node:url';

import { checkLock, checkProject, run } from './support/project.mjs';
import { serverForTests } from './support/server.mjs';

const PACKAGE = fileURLToPath(new URL('..', import.meta.url));
const server = await serverForTests(test);

test('the package in an empty project, from JavaScript and from TypeScript', (t) => {
  const typed = `import { connect } from '@opserve/client';
     const client = await connect();
     export const { out }: { out: { shape: readonly number[] } } = await client.execute('Relu', { self: 1 });
     // @ts-expect-error: an input is missing
     await client.execute('Relu', {});`;
  checkProject(t, PACKAGE, { address: server.address, typed, lib: 'es2022,esnext.disposable' });
});

test('the messages are those of the .proto files', () => {
  run(process.execPath, ['generate_messages.mjs', '--check'], PACKAGE);
});

test('the lock file names no registry', () => checkLock(PACKAGE));
