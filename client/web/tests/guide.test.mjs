// docs/web.md: its code compiles as TypeScript, and prints what the page says.

import test from 'node:test';
import { fileURLToPath } from 'node:url';

import { checkGuide } from '../../node/tests/support/guide.mjs';
import { serverForTests } from '../../node/tests/support/server.mjs';

const PACKAGE = fileURLToPath(new URL('..', import.meta.url));
const server = await serverForTests(test, ['--http', '127.0.0.1:0']);

test('the code of the guide', () => {
  checkGuide(`${PACKAGE}../../docs/web.md`, PACKAGE, 'http://localhost:8600', server.http);
});
