// Computes a gradient on an opserve server.
//
// Usage: node gradient.mjs [TARGET]     (default localhost:8500)

import { connect, OpserveError, tensor } from '@opserve/client';

const ones = tensor(new Float32Array(8).fill(1), [4, 2]);
const self = tensor(Float32Array.of(0, 1, 2, 3, 4, 5, 6, 7), [4, 2]);

try {
  const client = await connect(process.argv[2]);
  const outputs = await client.execute(
    'SmoothL1LossBackward',
    { grad_out: ones, self, target: ones },
    { reduction: 'none', beta: 1 },
  );
  for (const [name, output] of Object.entries(outputs)) console.log(name, ...output.data);
  client.close();
} catch (error) {
  if (!(error instanceof OpserveError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
