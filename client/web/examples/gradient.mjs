// A gradient on a server's HTTP port, from Node or Deno: node gradient.mjs http://localhost:8600

import { connect, tensor } from '@opserve/web';

const client = await connect(globalThis.process?.argv[2] ?? 'http://localhost:8600');
const x = tensor(Float32Array.of(0, 1, 2, 3, 4, 5, 6, 7), [4, 2]);
const ones = tensor(new Float32Array(8).fill(1), [4, 2]);
const inputs = { grad_out: ones, self: x, target: ones };
const { grad_input } = await client.execute('SmoothL1LossBackward', inputs, { reduction: 'none', beta: 1 });
console.log('grad_input', ...grad_input.data);
