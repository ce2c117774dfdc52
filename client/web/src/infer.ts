// Calls of operators: the request's body, JSON with the tensors' bytes behind it, and the answer, which is alike.

import { arrayTypeOf } from '../../node/src/values/dtypes.js';
import type { AttributeValue } from '../../node/src/values/attribute_value.js';
import { badAnswer } from '../../node/src/values/errors.js';
import type { CallOptions } from '../../node/src/values/retries.js';
import { dense, sizeOf, tensorOfWire, tensorsOf, wireBytes } from '../../node/src/values/tensor.js';
import type { Input, Tensor } from '../../node/src/values/tensor.js';
import type { Answer, Request } from './http.js';
import { datatypeOf, dtypeOf } from './datatypes.js';
import { intOf, listOf, member, objectOf, parsed, textOf } from './json.js';
import { parameterTexts } from './parameters.js';

/** What a call takes besides inputs and attributes. */
export interface ExecuteOptions<OutputName extends string = string> extends CallOptions {
  /** "cpu:0"; the server's first unless given. */
  device?: string | undefined;
  /** The outputs that are wanted; all unless given. What the others would take is not computed where the operator can leave it out. */
  outputs?: readonly OutputName[] | undefined;
}

type Outputs = Readonly<Record<string, Tensor>>;

const JSON_BYTES_HEADER = 'Inference-Header-Content-Length';
// Of at most 64 outputs, each with its name and shape.
const MAX_JSON_BYTES = 1 << 20;

/** The call of an operator. `timeoutMs` is told to the server, too. */
export function inferRequest(
  op: string,
  inputs: Readonly<Record<string, Input | undefined>>,
  attributes: Readonly<Record<string, AttributeValue | undefined>>,
  { device, outputs, timeoutMs = Infinity }: ExecuteOptions,
): Request<Outputs> {
  const tensors = [...tensorsOf(inputs)].map(([name, value]) => ({ name, value: dense(value) }));
  const bytes = tensors.map(({ value }) => wireBytes(value));
  const microseconds = Math.ceil(timeoutMs * 1000);
  const own = { opserve_device: device, timeout: Number.isSafeInteger(microseconds) ? microseconds : undefined };
  const parameters = ['"binary_data_output":true', ...parameterTexts({ ...own, ...attributes })];
  const described = tensors.map(({ name, value: { dtype, shape } }, i) =>
    JSON.stringify({
      name,
      datatype: datatypeOf(dtype),
      shape,
      parameters: { binary_data_size: bytes[i]!.length },
    }),
  );
  const wanted = outputs === undefined ? '' : `,"outputs":${JSON.stringify(outputs.map((name) => ({ name })))}`;
  const json = new TextEncoder().encode(
    `{"parameters":{${parameters.join(',')}},"inputs":[${described.join(',')}]${wanted}}`,
  );
  return {
    method: 'POST',
    path: `/v2/models/${encodeURIComponent(op)}/infer`,
    headers: { 'Content-Type': 'application/octet-stream', [JSON_BYTES_HEADER]: String(json.length) },
    body: joined([json, ...bytes]),
    alignedAt: jsonBytesOf,
    read: (answer) => outputsOf(answer, outputs),
  };
}

function joined(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let position = 0;
  for (const piece of pieces) {
    whole.set(piece, position);
    position += piece.length;
  }
  return whole;
}

/** The length of the JSON in front of an answer's bytes. */
function jsonBytesOf(headers: Headers): number {
  const text = headers.get(JSON_BYTES_HEADER);
  if (text === null) throw badAnswer(`want the header ${JSON_BYTES_HEADER}, got none`);
  const length = /^\d{1,15}$/.test(text) ? Number(text) : Infinity;
  if (length > MAX_JSON_BYTES) {
    throw badAnswer(`${JSON_BYTES_HEADER}: want a number of bytes up to ${MAX_JSON_BYTES}, got ${text.slice(0, 32)}`);
  }
  return length;
}

/** The outputs of an answer, which look into its bytes. */
function outputsOf({ headers, body }: Answer, wanted: readonly string[] | undefined): Outputs {
  const jsonBytes = jsonBytesOf(headers);
  if (jsonBytes > body.length) throw badAnswer(`${body.length} bytes, of which ${jsonBytes} are said to be JSON`);
  const whole = objectOf(parsed(body.subarray(0, jsonBytes)), 'answer');
  const outputs = new Map<string, Tensor>();
  let position = jsonBytes;
  for (const entry of listOf(member(whole, 'outputs'), 'outputs')) {
    const { name, tensor, size } = outputOf(objectOf(entry, 'output'), body, position);
    if (outputs.has(name)) throw badAnswer(`output ${name} comes twice`);
    outputs.set(name, tensor);
    position += size;
  }
  if (position !== body.length) throw badAnswer(`${body.length - position} bytes behind its outputs`);
  const missing = wanted?.find((name) => !outputs.has(name));
  if (missing !== undefined) throw badAnswer(`output ${missing} is missing`);
  return Object.fromEntries(outputs);
}

function outputOf(entry: Readonly<Record<string, unknown>>, body: Uint8Array, position: number) {
  const name = textOf(member(entry, 'name'), 'name of an output');
  const datatype = textOf(member(entry, 'datatype'), `datatype of output ${name}`);
  const dtype = dtypeOf(datatype);
  if (dtype === undefined) throw badAnswer(`output ${name} has the datatype ${datatype}`);
  const extents = listOf(member(entry, 'shape'), `shape of output ${name}`);
  const shape = extents.map((extent) => intOf(extent, `shape of output ${name}`));
  const parameters = objectOf(member(entry, 'parameters'), `parameters of output ${name}`);
  const size = intOf(member(parameters, 'binary_data_size'), `binary_data_size of output ${name}`);
  if (sizeOf(shape) * arrayTypeOf(dtype).BYTES_PER_ELEMENT !== size) {
    throw badAnswer(`output ${name} of ${dtype}[${shape.join(', ')}] has ${size} bytes`);
  }
  if (size > body.length - position) {
    throw badAnswer(`output ${name} is said to have ${size} bytes, and ${body.length - position} came`);
  }
  return { name, tensor: tensorOfWire(dtype, shape, body.subarray(position, position + size)), size };
}
