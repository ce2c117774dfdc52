// The package beside bare @grpc/grpc-js: calls of 8 floats a second, one by one and 16 at a time, and bytes a second at 16 MiB.
//
// Usage: node benchmark.mjs [TARGET]     (default localhost:8500)
//
// Run it on an idle machine, against a release build. Bare gRPC sends the same message, made once, to the same server with the same
// timeout, and looks at nothing of the answer. The two take turns; the medians are printed.

import { Client, credentials } from '@grpc/grpc-js';
import { call, connect } from '@opserve/client';

import { executeRequest } from './dist/calls.js';

const [SECONDS, ROUNDS, IN_FLIGHT] = [1, 5, 16];
const TIMEOUT_MS = 60_000;
const SMALL = { self: new Float32Array(8).fill(1) };
const LARGE = { self: new Float32Array(4 << 20).fill(1) };

/** Calls a second with so many under way, for a second. */
async function rate(inFlight, once) {
  const start = performance.now();
  const seconds = () => (performance.now() - start) / 1000;
  let calls = 0;
  const work = async () => {
    for (; seconds() < SECONDS; calls++) await once();
  };
  await Promise.all(Array.from({ length: inFlight }, work));
  return calls / seconds();
}

/** The medians of a few rounds of each, which take turns; the first is to warm up. */
async function compared(inFlight, ...calls) {
  const found = calls.map(() => []);
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [i, once] of calls.entries()) {
      const calls = await rate(inFlight, once);
      if (round > 0) found[i].push(calls);
    }
  }
  return found.map((rates) => rates.sort((a, b) => a - b)[ROUNDS >> 1]);
}

/** A function that makes the call by bare gRPC. */
function bare(connection, inputs) {
  const same = (bytes) => bytes;
  const { method, message } = executeRequest(call('Relu', inputs), Infinity);
  const path = `/opserve.v1.OperatorService/${method}`;
  return () =>
    new Promise((resolve, reject) =>
      connection.makeUnaryRequest(path, same, same, message, { deadline: Date.now() + TIMEOUT_MS }, (error, answer) =>
        error ? reject(error) : resolve(answer),
      ),
    );
}

function row(name, ours, theirs, unit) {
  const figure = (value) => value.toPrecision(4).padStart(10);
  const ratio = (ours / theirs).toFixed(2);
  console.log(
    `${name.padEnd(24)} @opserve/client ${figure(ours)} ${unit}   grpc-js ${figure(theirs)} ${unit}   ratio ${ratio}`,
  );
}

const target = process.argv[2] ?? 'localhost:8500';
const client = await connect(target, { timeoutMs: TIMEOUT_MS });
const limits = { 'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1 };
const connection = new Client(target, credentials.createInsecure(), limits);
for (const [name, inFlight] of [
  ['8 floats, one by one', 1],
  [`8 floats, ${IN_FLIGHT} at a time`, IN_FLIGHT],
]) {
  const found = await compared(inFlight, () => client.execute('Relu', SMALL), bare(connection, SMALL));
  row(name, ...found, 'calls/s');
}
const moved = (2 * LARGE.self.byteLength) / 1e9;
const found = await compared(1, () => client.execute('Relu', LARGE), bare(connection, LARGE));
row('16 MiB each way', ...found.map((calls) => calls * moved), 'GB/s');
client.close();
connection.close();
