// Makes calls with the package of client/node: node node_route.mjs PACKAGE TARGET <CALLS >RESULTS
//
// CALLS is a JSON list of { operator, inputs, attributes }, each input { dtype, shape, data } with data in base64. RESULTS is a list of
// outputs in the same form, or of the message of the error.

import { readFileSync } from 'node:fs';

const [module, target] = process.argv.slice(2);
const { connect, OpserveError, tensor } = await import(module);

const ARRAYS = { float32: Float32Array, float16: Uint16Array, bfloat16: Uint16Array, int32: Int32Array };

function tensorOf({ dtype, shape, data }) {
  const bytes = new Uint8Array(Buffer.from(data, 'base64'));
  return tensor(new ARRAYS[dtype](bytes.buffer), shape, dtype);
}

const byName = (values, change) => Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));

const client = await connect(target);
const results = [];
for (const { operator, inputs, attributes } of JSON.parse(readFileSync(0, 'utf8'))) {
  try {
    const outputs = await client.execute(operator, byName(inputs, tensorOf), attributes);
    results.push(byName(outputs, ({ dtype, shape, bytes }) => ({ dtype, shape, data: Buffer.from(bytes).toString('base64') })));
  } catch (error) {
    if (!(error instanceof OpserveError)) throw error;
    results.push(error.message);
  }
}
client.close();
console.log(JSON.stringify(results));
