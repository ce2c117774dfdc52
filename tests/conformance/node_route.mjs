// Makes calls with client/node/gradient.mjs: node node_route.mjs GRADIENT_MODULE TARGET <CALLS >RESULTS
//
// CALLS is a JSON list of { operator, inputs, attributes } in the form of execute(), with data in base64. RESULTS is a list of
// outputs in the same form, or of the string that explain() gives.

import { readFileSync } from 'node:fs';

const [module, target] = process.argv.slice(2);
const { connect, execute, explain } = await import(module);

const client = connect(target);
const results = [];
for (const { operator, inputs, attributes } of JSON.parse(readFileSync(0, 'utf8'))) {
  for (const input of Object.values(inputs)) input.data = Buffer.from(input.data, 'base64');
  try {
    const outputs = await execute(client, operator, inputs, attributes);
    for (const output of Object.values(outputs)) output.data = output.data.toString('base64');
    results.push(outputs);
  } catch (error) {
    results.push(explain(error));
  }
}
client.close();
console.log(JSON.stringify(results));
