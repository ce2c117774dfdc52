// Calls: what is sent and what is made of the answer, apart from how it travels.

import { create, toBinary } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';

import { attributesOf } from './attributes.js';
import type { AttributeValue } from './values/attribute_value.js';
import type { Request } from './channel.js';
import { dataTypeOf, dtypeOf } from './data_types.js';
import { itemSize } from './values/dtypes.js';
import type { DType } from './values/dtypes.js';
import { errorOfStatus } from './rpc_errors.js';
import { badAnswer } from './values/errors.js';
import {
  ExecuteBatchResponseSchema,
  ExecuteResponseSchema,
  GetWorkspaceSizeRequestSchema,
  GetWorkspaceSizeResponseSchema,
} from './generated/opserve/v1/operator_service_pb.js';
import type { GetWorkspaceSizeResponse } from './generated/opserve/v1/operator_service_pb.js';
import { CallSchema } from './generated/opserve/v1/types_pb.js';
import type { Execution as ExecutionMessage, Tensor as TensorMessage } from './generated/opserve/v1/types_pb.js';
import type { InputsOf, OutputNameOf, OutputsOf, Rest } from './values/names.js';
import { calleeOf, ProgramPlan } from './program.js';
import type { Callee } from './program.js';
import { sizeOf, tensorOfWire, tensorsOf, wireBytes } from './values/tensor.js';
import type { Input, Spec, Tensor } from './values/tensor.js';
import { joined, joinedSize, parsed } from './wire.js';

/** Which device ran a call, and how long that took, in milliseconds. */
export interface Execution {
  readonly device: string;
  readonly queuedMs: number;
  readonly executedMs: number;
}

/** What a call takes besides inputs and attributes. */
export interface ExecuteOptions<OutputName extends string = string> {
  /** "cpu:0"; the server's first unless given. */
  device?: string;
  /** The dtypes of outputs that are to differ from those that the operator infers. */
  outputDtypes?: { readonly [Name in OutputName]?: DType };
  /** Told which device ran the call and how long that took; not of a call that was too large for a message. */
  onExecution?: (execution: Execution) => void;
}

/** A call of `executeBatch`. */
export interface Call<Name extends Callee = Callee> {
  readonly op: Name;
  readonly inputs: Readonly<Record<string, Input | undefined>>;
  readonly attributes: Readonly<Record<string, AttributeValue | undefined>>;
  readonly options: ExecuteOptions;
}

/** Results of a batch: one for each call, with its outputs or its error. */
export type BatchResults<Calls extends readonly Call<Callee>[]> = {
  -readonly [I in keyof Calls]: Calls[I] extends Call<infer Name extends Callee>
    ? PromiseSettledResult<OutputsOf<Name, Tensor>>
    : never;
};

/** What phase one tells of a call: what it needs and what it gives. */
export interface Plan<Outputs = Readonly<Record<string, Required<Spec>>>> {
  readonly workspaceBytes: number;
  readonly outputs: Outputs;
  readonly inputBytes: number;
  readonly outputBytes: number;
  readonly device: string;
  readonly expectedMs: number;
  readonly runsInline: boolean;
  /** Of a program: how it runs. */
  readonly program: ProgramPlan | undefined;
}

type Outputs = Readonly<Record<string, Tensor>>;
type CallInit = Exclude<MessageInitShape<typeof CallSchema>, { $typeName: string }>;

/** A call for `executeBatch`; the arguments of `execute`. */
export function call<Name extends Callee>(
  op: Name,
  inputs: InputsOf<Name, Input>,
  ...rest: Rest<Name, ExecuteOptions<OutputNameOf<Name>>>
): Call<Name> {
  const [attributes = {}, options = {}] = rest;
  return { op, inputs, attributes, options } as Call<Name>;
}

/** undefined where the message would have more than `maxBytes`. */
export function executeRequest(made: Call, maxBytes: number): Request<Outputs> | undefined {
  const raw: Uint8Array[] = [];
  const first = [callBytes(made, raw)];
  if (joinedSize(first, raw) > maxBytes) return undefined;
  return {
    method: 'Execute',
    message: joined(first, raw),
    read: (answer) => outputsOf(parsed(ExecuteResponseSchema, answer), undefined, made.options),
  };
}

export function executeBatchRequest(calls: readonly Call[]): Request<PromiseSettledResult<Outputs>[]> {
  const raw: Uint8Array[] = [];
  const read = (answer: Buffer) => {
    const response = parsed(ExecuteBatchResponseSchema, answer);
    if (response.results.length !== calls.length) {
      throw badAnswer(`${response.results.length} results of ${calls.length} calls`);
    }
    return response.results.map((result, i): PromiseSettledResult<Outputs> => {
      if (result.error !== undefined) return { status: 'rejected', reason: errorOfStatus(result.error) };
      return { status: 'fulfilled', value: outputsOf(result, response.raw, calls[i]!.options) };
    });
  };
  return {
    method: 'ExecuteBatch',
    message: joined(
      calls.map((made) => callBytes(made, raw)),
      raw,
    ),
    read,
  };
}

/** Phase one. */
export function planRequest(
  op: Callee,
  inputs: Iterable<readonly [string, Required<Spec>]>,
  attributes: Readonly<Record<string, AttributeValue | undefined>>,
  { device = '', outputDtypes = {} }: ExecuteOptions,
): Request<Plan> {
  const request = create(GetWorkspaceSizeRequestSchema, {
    call: {
      ...calleeOf(op),
      device,
      inputs: [...inputs].map(([name, { dtype, shape }]) => ({
        name,
        dtype: dataTypeOf(dtype),
        shape: shape.map(BigInt),
      })),
      attributes: attributesOf(attributes),
      outputs: wantedOutputs(outputDtypes),
    },
  });
  return {
    method: 'GetWorkspaceSize',
    message: Buffer.from(toBinary(GetWorkspaceSizeRequestSchema, request)),
    read: readPlan,
  };
}

function readPlan(answer: Buffer): Plan {
  const response = parsed(GetWorkspaceSizeResponseSchema, answer);
  return {
    workspaceBytes: Number(response.workspaceBytes),
    outputs: Object.fromEntries(response.outputs.map((output) => [output.name, specOf(output)])),
    inputBytes: Number(response.inputBytes),
    outputBytes: Number(response.outputBytes),
    device: response.device,
    expectedMs: Number(response.cost?.expectedNs ?? 0n) * 1e-6,
    runsInline: response.cost?.runsInline ?? false,
    program: programOf(response),
  };
}

function programOf({ program }: GetWorkspaceSizeResponse): ProgramPlan | undefined {
  if (program === undefined) return undefined;
  const bytes = Number(program.intermediateBytes);
  if (bytes < 0) throw badAnswer(`intermediate_bytes is ${bytes}`);
  return new ProgramPlan(program.call?.program, bytes);
}

/** The Call of a message, whose tensors' bytes become entries of `raw`. */
function callBytes(made: Call, raw: Uint8Array[]): Uint8Array {
  const tensors = tensorsOf(made.inputs);
  const first = raw.length;
  for (const value of tensors.values()) raw.push(wireBytes(value));
  const key = first === 0 ? keyOf(made, tensors) : undefined;
  const known = key === undefined ? undefined : written.get(key);
  if (known !== undefined) return known;
  const bytes = writtenCall(made, tensors, first);
  if (key !== undefined) {
    if (written.size >= MAX_WRITTEN) written.clear();
    written.set(key, bytes);
  }
  return bytes;
}

// Calls that were written before, but for tensors' bytes: a program makes the same ones again and again.
const written = new Map<string, Uint8Array>();
const MAX_WRITTEN = 512;

/** What decides about a Call's bytes; undefined where that cannot be told in short. */
function keyOf({ op, attributes, options }: Call, tensors: ReadonlyMap<string, Tensor>): string | undefined {
  if (typeof op !== 'string' || options.outputDtypes !== undefined) return undefined;
  const parts: unknown[] = [op, options.device, options.onExecution !== undefined];
  for (const [name, { dtype, shape, view }] of tensors) {
    if (view.strides !== undefined || view.offset !== undefined) return undefined;
    parts.push(name, dtype, shape);
  }
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'object') return undefined;
    parts.push(name, typeof value, Object.is(value, -0) ? '-0' : String(value));
  }
  return JSON.stringify(parts);
}

function writtenCall(
  { op, attributes, options }: Call,
  tensors: ReadonlyMap<string, Tensor>,
  first: number,
): Uint8Array {
  const message: CallInit = {
    ...calleeOf(op),
    device: options.device ?? '',
    reportExecution: options.onExecution !== undefined,
    inputs: [...tensors].map(([name, value], i) => inputMessage(name, value, first + i)),
    attributes: attributesOf(attributes),
    outputs: wantedOutputs(options.outputDtypes ?? {}),
  };
  return toBinary(CallSchema, create(CallSchema, message));
}

function inputMessage(name: string, { dtype, shape, view }: Tensor, rawIndex: number) {
  return {
    name,
    dtype: dataTypeOf(dtype),
    shape: shape.map(BigInt),
    strides: view.strides?.map(BigInt) ?? [],
    storageOffset: BigInt(view.offset ?? 0),
    data: { case: 'rawIndex', value: rawIndex } as const,
  };
}

function wantedOutputs(dtypes: NonNullable<ExecuteOptions['outputDtypes']>) {
  return Object.entries(dtypes).flatMap(([name, dtype]) =>
    dtype === undefined ? [] : [{ name, dtype: dataTypeOf(dtype) }],
  );
}

/** The outputs of an ExecuteResponse, or of a result of a batch, which look into the message's bytes. */
function outputsOf(
  response: { outputs: TensorMessage[]; execution?: ExecutionMessage; raw?: Uint8Array[] },
  raw: readonly Uint8Array[] = response.raw ?? [],
  { outputDtypes = {}, onExecution }: ExecuteOptions,
): Outputs {
  const outputs = Object.fromEntries(response.outputs.map((output) => [output.name, tensorOfMessage(output, raw)]));
  for (const [name, dtype] of Object.entries(outputDtypes)) {
    if (dtype !== undefined && outputs[name]?.dtype !== dtype) {
      throw badAnswer(`output ${name} has the dtype ${outputs[name]?.dtype}, want ${dtype}`);
    }
  }
  if (response.execution !== undefined) onExecution?.(executionOf(response.execution));
  return outputs;
}

function executionOf({ device, queuedNs, executedNs }: ExecutionMessage): Execution {
  return { device, queuedMs: Number(queuedNs) * 1e-6, executedMs: Number(executedNs) * 1e-6 };
}

function tensorOfMessage(output: TensorMessage, raw: readonly Uint8Array[]): Tensor {
  const { dtype, shape } = specOf(output);
  const { data, name } = output;
  const bytes = data.case === 'rawIndex' ? raw[data.value] : new Uint8Array(0);
  if (bytes === undefined) throw badAnswer(`output ${name} has no bytes`);
  if (sizeOf(shape) * itemSize(dtype) !== bytes.length) {
    throw badAnswer(`output ${name} of ${dtype}[${shape.join(', ')}] has ${bytes.length} bytes`);
  }
  return tensorOfWire(dtype, shape, bytes);
}

/** The dtype and shape of an output that a server describes. */
export function specOf({ name, dtype: dataType, shape: extents }: TensorMessage): Required<Spec> {
  const dtype = dtypeOf(dataType);
  if (dtype === undefined) throw badAnswer(`output ${name} has the dtype ${dataType}`);
  const shape = extents.map(Number);
  if (shape.some((extent) => !Number.isSafeInteger(extent) || extent < 0)) {
    throw badAnswer(`output ${name} has the shape [${shape.join(', ')}]`);
  }
  return { dtype, shape };
}
