// Writes src/generated/{google,opserve}: what protoc and protoc-gen-es make of ../../proto.
//
// Usage: node generate_messages.mjs [--check]     (--check only tells whether the files are what it would write)
//
// Needs protoc 3.21 or newer; what is checked in was made by the one of Debian 12.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = dirname(fileURLToPath(import.meta.url));
const PROTOS = join(HERE, '../../proto');
const TARGET = join(HERE, 'src/generated');
const PLUGIN = join(HERE, 'node_modules/.bin/protoc-gen-es');
const FILES = [
  'google/rpc/error_details',
  'google/rpc/status',
  'opserve/v1/operator_service',
  'opserve/v1/session',
  'opserve/v1/statistics',
  'opserve/v1/types',
];

function generated() {
  const folder = mkdtempSync(join(tmpdir(), 'opserve-'));
  try {
    const plugin = [`--plugin=protoc-gen-es=${PLUGIN}`, `--es_out=${folder}`, '--es_opt=target=ts,import_extension=js'];
    execFileSync('protoc', ['-I', PROTOS, ...plugin, ...FILES.map((file) => `${file}.proto`)], { stdio: 'inherit' });
    return FILES.map((file) => [`${file}_pb.ts`, readFileSync(join(folder, `${file}_pb.ts`), 'utf8')]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const isCheck = process.argv.includes('--check');
for (const [name, text] of generated()) {
  const file = join(TARGET, name);
  if (isCheck && (!existsSync(file) || readFileSync(file, 'utf8') !== text)) {
    console.error(`src/generated/${name} is stale: npm run generate`);
    process.exitCode = 1;
  } else if (!isCheck) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}
