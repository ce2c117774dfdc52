// docs/typescript.md: its code compiles as TypeScript, and prints what the page says.

import test from 'node:test';
import { fileURLToPath } from 'node:url';

import { checkGuide } from './support/guide.mjs';
import { serverForTests } from './support/server.mjs';

const PACKAGE = fileURLToPath(new URL('..', import.meta.url));
const server = await serverForTests(test);

test('the code of the guide', () => {
  checkGuide(`${PACKAGE}../../docs/typescript.md`, PACKAGE, 'localhost:8500', server.address);
});
