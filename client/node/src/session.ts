// Sessions: tensors that stay on the server, and work on them that nothing waits for. docs/session.md has the model.

import type { AttributeValue } from './values/attribute_value.js';
import { planRequest } from './calls.js';
import type { Call, ExecuteOptions, Plan } from './calls.js';
import type { Channel } from './channel.js';
import type { CallOptions } from './values/retries.js';
import { Conversation } from './conversation.js';
import { DeviceTensor, Event, Executor, Scope, Stream, synchronizeCommand } from './device.js';
import type { OnStream } from './device.js';
import { plain } from './discovery.js';
import type { Plain } from './discovery.js';
import type { DType } from './values/dtypes.js';
import { badAnswer } from './values/errors.js';
import type { MemoryState, SessionInfo } from './generated/opserve/v1/session_pb.js';
import type { InputsOf, OutputNameOf, OutputsOf, Rest } from './values/names.js';
import type { Callee } from './program.js';
import { tensor, Tensor, tensorsOf } from './values/tensor.js';
import type { Input, Scalar, Spec } from './values/tensor.js';

const MOST_PLANS = 512; // kept; beyond them all are dropped

/** An input of a session's call: a tensor of the session, or what is made one. */
export type DeviceInput = DeviceTensor | Input;

export interface SessionOptions extends CallOptions {
  /** "cpu:0"; the server's first unless given. */
  device?: string;
}

/** What `plan` and `execute` of a session take besides inputs and attributes. */
export interface DeviceExecuteOptions<OutputName extends string = string> extends OnStream {
  /** Tensors of the session that outputs are written to; others are made. */
  outputs?: { readonly [Name in OutputName]?: DeviceTensor };
}

/** Told how many of how many bytes were sent and received. */
export type Progress = (doneBytes: number, totalBytes: number) => void;

type Attributes = Readonly<Record<string, AttributeValue | undefined>>;
type DeviceTensors = Readonly<Record<string, DeviceTensor>>;

/**
 * Resident state on a device of a server, in one RPC. `close`, or the end of the block of an `await using` declaration, finishes what
 * was sent and frees everything.
 *
 * Nothing waits but what gives numbers: DeviceTensor.download, synchronize, queries. A command that failed rejects there.
 */
export class Session implements AsyncDisposable {
  readonly #scope: Scope;
  readonly #talk: Conversation;
  readonly #channel: Channel;
  readonly #device: string;
  readonly #plans = new Map<string, Plan>();

  private constructor(channel: Channel, talk: Conversation, device: string) {
    this.#channel = channel;
    this.#talk = talk;
    this.#device = device;
    this.#scope = new Scope(talk, device);
  }

  /** @internal */
  static async open(channel: Channel, { device = '', signal, timeoutMs = Infinity }: SessionOptions): Promise<Session> {
    const talk = await channel.openSession({ timeoutMs, signal }, async (rpc) => {
      const opening = new Conversation(rpc, signal);
      await opening.opened();
      return opening;
    });
    return new Session(channel, talk, device);
  }

  // ---- tensors

  /** A copy of a tensor on the device; its elements must not change before the promise is fulfilled. */
  async tensor(value: Input, options: OnStream & { dtype?: DType } = {}): Promise<DeviceTensor> {
    const given = value instanceof Tensor ? value : tensor(value as Scalar, undefined, options.dtype);
    const made = this.empty(given.shape, given.dtype);
    await made.upload(given, options);
    return made;
  }

  /** A tensor on the device; zeros, as all new memory of a session. */
  empty(shape: readonly number[], dtype: DType = 'float32'): DeviceTensor {
    return new DeviceTensor(this.#scope, shape, dtype);
  }

  /** A tensor on the device, filled there. */
  full(shape: readonly number[], value: Scalar, options: OnStream & { dtype?: DType } = {}): DeviceTensor {
    const made = this.empty(shape, options.dtype);
    made.fill(value, options);
    return made;
  }

  // ---- calls

  /**
   * Phase one: an executor, which `run` runs as often as is wanted on the same tensors. Outputs that `outputs` does not name are made
   * here, for which the server is asked once for each shape.
   */
  async plan<Name extends Callee>(
    op: Name,
    inputs: InputsOf<Name, DeviceInput>,
    ...rest: Rest<Name, DeviceExecuteOptions<OutputNameOf<Name>>>
  ): Promise<Executor<OutputsOf<Name, DeviceTensor>>> {
    const [attributes = {}, options = {}] = rest;
    const given = await this.#tensors(inputs);
    const outputs: Record<string, DeviceTensor> = {};
    const { outputs: specs } = await this.#planned(op, Object.entries(given), attributes);
    for (const [name, { shape, dtype }] of Object.entries(specs)) {
      outputs[name] = (options.outputs as Partial<DeviceTensors> | undefined)?.[name] ?? this.empty(shape, dtype);
    }
    return new Executor(this.#scope, op, given, attributes, outputs as OutputsOf<Name, DeviceTensor>);
  }

  /** Both phases; the outputs by name, on the device. */
  async execute<Name extends Callee>(
    op: Name,
    inputs: InputsOf<Name, DeviceInput>,
    ...rest: Rest<Name, DeviceExecuteOptions<OutputNameOf<Name>>>
  ): Promise<OutputsOf<Name, DeviceTensor>> {
    const executor = await this.plan(op, inputs, ...rest);
    const outputs = executor.run(rest[1]);
    executor.free();
    return outputs;
  }

  /** @internal Uploads a call's tensors, runs it and downloads what it gives. */
  async executeWhole(
    { op, inputs, attributes, options }: Call,
    limits: CallOptions,
    onProgress?: Progress,
  ): Promise<Record<string, Tensor>> {
    const given = tensorsOf(inputs);
    const plan = await this.#planned(op, given, attributes, options, limits);
    const total = plan.inputBytes + plan.outputBytes;
    let done = 0;
    const advance = { onProgress: (bytes: number) => onProgress?.((done += bytes), total) };
    const tensors: Record<string, DeviceTensor> = {};
    for (const [name, value] of given) {
      tensors[name] = this.empty(value.shape, value.dtype);
      await tensors[name].upload(value, advance);
    }
    const specs = Object.entries(plan.outputs);
    const outputs = Object.fromEntries(specs.map(([name, { shape, dtype }]) => [name, this.empty(shape, dtype)]));
    new Executor(this.#scope, op, tensors, attributes, outputs).run();
    const results: Record<string, Tensor> = {};
    for (const [name, output] of Object.entries(outputs)) results[name] = await output.download(advance);
    return results;
  }

  async #tensors(inputs: Readonly<Record<string, DeviceInput | undefined>>): Promise<Record<string, DeviceTensor>> {
    const here: Record<string, DeviceTensor> = {};
    const others: Record<string, Input> = {};
    for (const [name, value] of Object.entries(inputs)) {
      if (value instanceof DeviceTensor) here[name] = value;
      else if (value !== undefined) others[name] = value;
    }
    for (const [name, value] of tensorsOf(others, Object.values(here))) here[name] = await this.tensor(value);
    return here;
  }

  async #planned(
    op: Callee,
    inputs: Iterable<readonly [string, Required<Spec>]>,
    attributes: Attributes,
    { outputDtypes = {} }: ExecuteOptions = {},
    limits: CallOptions = {},
  ): Promise<Plan> {
    const request = planRequest(op, inputs, attributes, { outputDtypes, device: this.#device });
    const key = request.message.toString('latin1');
    const known = this.#plans.get(key);
    if (known !== undefined) return known;
    const plan = await this.#channel.call(request, limits);
    if (this.#plans.size >= MOST_PLANS) this.#plans.clear();
    this.#plans.set(key, plan);
    return plan;
  }

  // ---- order

  /** Another stream: its work runs beside that of the others. */
  stream(): Stream {
    return new Stream(this.#scope);
  }

  /** A mark that streams record and wait for. */
  event(): Event {
    return new Event(this.#scope);
  }

  /** Waits until all that was given is done. Rejects with the first failure. */
  async synchronize(options: CallOptions = {}): Promise<void> {
    await this.#scope.ask(synchronizeCommand('context', this.#scope.context), options);
  }

  /** What the session holds on the device, and what it may. */
  async memory(): Promise<Plain<MemoryState>> {
    const { answer } = await this.#scope.ask({ case: 'queryMemory', value: { context: this.#scope.context } });
    if (answer.case !== 'memory') throw badAnswer('no state of memory');
    return plain(answer.value);
  }

  /** The session's limits. */
  get info(): Plain<SessionInfo> {
    return plain(this.#talk.info);
  }

  /** Whether the server said that it is stopping: it ends the session once nothing is under way. */
  get isDraining(): boolean {
    return this.#talk.isDraining;
  }

  // ---- the end

  /** Finishes what was sent and frees everything. Rejects with the first failure that was not told. */
  async close(): Promise<void> {
    await this.#talk.finish();
  }

  /** Drops what waits and frees everything. */
  cancel(): void {
    this.#talk.cancel();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
