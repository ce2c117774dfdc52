// Computes a gradient on an opserve server: Node, from the .proto files alone.
//
// Usage: node gradient.mjs [TARGET]     (default localhost:8500; `npm ci` in this folder first)
//
// Copy execute() and what it calls: it runs any operator.

import { fileURLToPath } from 'node:url';

import grpc from '@grpc/grpc-js';
import protoLoader from '@grpc/proto-loader';

const PROTO_FOLDER = fileURLToPath(new URL('../../proto', import.meta.url));
const PROTOS = ['opserve/v1/operator_service.proto', 'google/rpc/error_details.proto'];
const definitions = protoLoader.loadSync(PROTOS, {
  includeDirs: [PROTO_FOLDER], keepCase: true, enums: String, longs: Number, defaults: true, oneofs: true,
});
const { google, opserve } = grpc.loadPackageDefinition(definitions);
const { OperatorService } = opserve.v1;
const { Status, ErrorInfo } = google.rpc;

export function connect(target) {
  const unlimited = { 'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1 };
  return new OperatorService(target, grpc.credentials.createInsecure(), unlimited);
}

// Runs an operator. `inputs` are { name: { dtype: 'DATA_TYPE_FLOAT32', shape: [4, 2], data: typed array } }, `attributes`
// { name: { int_value: 0 } }. Resolves to the outputs, in the form of the inputs but with a Buffer as data; rejects with
// gRPC's error.
export function execute(client, operator, inputs, attributes, timeoutMs = 5000) {
  const tensors = Object.entries(inputs);
  const request = {
    call: {
      op: operator,
      inputs: tensors.map(([name, { dtype, shape }], i) => ({ name, dtype, shape, raw_index: i })),
      attributes: Object.entries(attributes).map(([name, value]) => ({ name, ...value })),
    },
    raw: tensors.map(([, { data }]) => Buffer.from(data.buffer, data.byteOffset, data.byteLength)),
  };
  return new Promise((resolve, reject) => {
    client.Execute(request, { deadline: Date.now() + timeoutMs }, (error, response) =>
      error ? reject(error) : resolve(outputsOf(response)));
  });
}

// An output that was masked out has no bytes.
function outputsOf({ outputs, raw }) {
  return Object.fromEntries(outputs.map(({ name, dtype, shape, data, raw_index }) =>
    [name, { dtype, shape, data: data === 'raw_index' ? raw[raw_index] : Buffer.alloc(0) }]));
}

// One line about a failed call: the reason and the aclnn code where the server sent them, and what it said.
export function explain(error) {
  const [details] = error.metadata?.get('grpc-status-details-bin') ?? [];
  if (!details) return `${grpc.status[error.code]}: ${error.details}`; // from gRPC itself: no server, deadline, …
  const found = Status.deserialize(details).details.find(({ type_url }) => type_url.endsWith('/google.rpc.ErrorInfo'));
  const { reason, metadata } = found ? ErrorInfo.deserialize(found.value) : {};
  return `${[reason, metadata?.code].filter(Boolean).join(' ')}: ${error.details}`;
}

async function main(target = 'localhost:8500') {
  const tensor = (...elements) => ({ dtype: 'DATA_TYPE_FLOAT32', shape: [4, 2], data: new Float32Array(elements) });
  const ones = tensor(1, 1, 1, 1, 1, 1, 1, 1);
  const inputs = { grad_out: ones, self: tensor(0, 1, 2, 3, 4, 5, 6, 7), target: ones };
  const client = connect(target);
  try {
    const outputs = await execute(client, 'SmoothL1LossBackward', inputs,
      { reduction: { int_value: 0 }, beta: { float_value: 1 } });
    for (const [name, { data }] of Object.entries(outputs)) {
      console.log(name, ...Array.from({ length: data.length / 4 }, (_, i) => data.readFloatLE(4 * i)));
    }
  } catch (error) {
    console.error(explain(error));
    process.exitCode = 1;
  } finally {
    client.close();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv[2]);
