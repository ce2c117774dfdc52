// The client.

import { call, executeBatchRequest, executeRequest, planRequest } from './calls.js';
import type { BatchResults, Call, ExecuteOptions, Plan } from './calls.js';
import { Channel } from './channel.js';
import type { CallOptions } from './values/retries.js';
import { devicesRequest, operatorsRequest, serverInfoRequest, statisticsRequest } from './discovery.js';
import type { Device, Operator, ServerInfo, Statistics } from './discovery.js';
import { ResourceError } from './values/errors.js';
import type { Callee } from './program.js';
import type { InputsOf, OutputNameOf, OutputsOf, Rest } from './values/names.js';
import { Session } from './session.js';
import type { Progress, SessionOptions } from './session.js';
import { tensorsOf } from './values/tensor.js';
import type { Input, Spec, Tensor } from './values/tensor.js';
import type { ConnectOptions } from './target.js';

const DEFAULT_TARGET = 'localhost:8500';

/** What `execute` takes besides inputs and attributes. */
export interface ExecuteCallOptions<OutputName extends string = string>
  extends ExecuteOptions<OutputName>,
    CallOptions {
  /** Told of a call that is larger than a message may be, and goes through a session, in pieces. */
  onProgress?: Progress;
}

/**
 * A client of the server at `target`, "host:port", "unix:/path" or "dns:///host:port"; of several targets it uses the first until
 * that is not available, then the next. It is $OPSERVE_TARGET, or localhost:8500, unless given. The server is asked for its limits
 * here: without one the promise is rejected.
 */
export async function connect(
  target: string | readonly string[] = process.env['OPSERVE_TARGET'] ?? DEFAULT_TARGET,
  options: ConnectOptions & Pick<CallOptions, 'signal'> = {},
): Promise<Client> {
  const channel = new Channel(typeof target === 'string' ? [target] : target, options);
  try {
    const info = await channel.call(serverInfoRequest(), options);
    return new Client(channel, info.maxMessageBytes > 0 ? info.maxMessageBytes : Infinity);
  } catch (error) {
    channel.close();
    throw error;
  }
}

/** A connection to a server, on which any number of calls may be under way. `close` it, or declare it with `await using`. */
export class Client implements AsyncDisposable {
  readonly #channel: Channel;
  readonly #maxMessageBytes: number;

  /** @internal */
  constructor(channel: Channel, maxMessageBytes: number) {
    this.#channel = channel;
    this.#maxMessageBytes = maxMessageBytes;
  }

  /**
   * Runs an operator, or a program; gives its outputs by name. Typed arrays may change when the function has returned its promise; those of a call
   * that is larger than a message may be, when the promise is settled.
   * `attributes` with a default may be left out.
   */
  async execute<Name extends Callee>(
    op: Name,
    inputs: InputsOf<Name, Input>,
    ...rest: Rest<Name, ExecuteCallOptions<OutputNameOf<Name>>>
  ): Promise<OutputsOf<Name, Tensor>> {
    const [, options = {}] = rest;
    const made = call(op, inputs, ...(rest as unknown as Rest<Name, ExecuteOptions<OutputNameOf<Name>>>));
    return this.#execute(made, options) as Promise<OutputsOf<Name, Tensor>>;
  }

  async #execute(made: Call, options: ExecuteCallOptions): Promise<Readonly<Record<string, Tensor>>> {
    const request = executeRequest(made, this.#maxMessageBytes);
    if (request === undefined) return this.#executeInPieces(made, options);
    try {
      return await this.#channel.call(request, options);
    } catch (error) {
      const isOfAnswer = error instanceof ResourceError && error.parameter === 'max_message_bytes';
      if (isOfAnswer) return this.#executeInPieces(made, options);
      throw error;
    }
  }

  async #executeInPieces(made: Call, options: ExecuteCallOptions): Promise<Readonly<Record<string, Tensor>>> {
    const deadline = this.#channel.deadlineOf(options);
    const limits = () => ({ timeoutMs: deadline - Date.now(), signal: options.signal });
    const { device = '' } = made.options;
    const session = await this.session({ device, ...limits() });
    try {
      const outputs = await session.executeWhole(made, limits(), options.onProgress);
      await session.close();
      return outputs;
    } catch (error) {
      session.cancel();
      throw error;
    }
  }

  /** A session: tensors that stay on the server, commands that nothing waits for. `timeoutMs` bounds all of it; it may last for ever
   * unless given. */
  async session(options: SessionOptions = {}): Promise<Session> {
    return Session.open(this.#channel, options);
  }

  /** Runs many calls in one message; each has its own outputs or error, as `Promise.allSettled` gives them. */
  async executeBatch<const Calls extends readonly Call<Callee>[]>(
    calls: Calls,
    options: CallOptions = {},
  ): Promise<BatchResults<Calls>> {
    return this.#channel.call(executeBatchRequest(calls), options) as Promise<BatchResults<Calls>>;
  }

  /** Checks a call and tells what it would need and give. Inputs are those of `execute`, or only their dtypes and shapes. */
  async plan<Name extends Callee>(
    op: Name,
    inputs: InputsOf<Name, Input | Spec>,
    ...rest: Rest<Name, ExecuteCallOptions<OutputNameOf<Name>>>
  ): Promise<Plan<OutputsOf<Name, Required<Spec>>>> {
    const [attributes = {}, options = {}] = rest;
    const request = planRequest(op, specsOf(inputs), attributes, options);
    return this.#channel.call(request, options) as Promise<Plan<OutputsOf<Name, Required<Spec>>>>;
  }

  /** The server's operators, or those of these names. */
  async operators(names: readonly string[] = [], options: CallOptions = {}): Promise<Operator[]> {
    return this.#channel.call(operatorsRequest(names), options);
  }

  /** The server's devices; the first is the one that calls run on unless they name another. */
  async devices(options: CallOptions = {}): Promise<Device[]> {
    return this.#channel.call(devicesRequest(), options);
  }

  /** The server's version and limits. */
  async info(options: CallOptions = {}): Promise<ServerInfo> {
    return this.#channel.call(serverInfoRequest(), options);
  }

  /** What the server has counted since it started. */
  async statistics(options: CallOptions = {}): Promise<Statistics> {
    return this.#channel.call(statisticsRequest(), options);
  }

  /** Ends the connection. Calls that are under way go on. */
  close(): void {
    this.#channel.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }
}

function isSpec(value: Input | Spec): value is Spec {
  return typeof value === 'object' && !Array.isArray(value) && !ArrayBuffer.isView(value) && 'shape' in value;
}

/** The dtypes and shapes of inputs. */
function specsOf(inputs: Readonly<Record<string, Input | Spec | undefined>>): Map<string, Required<Spec>> {
  const specs = new Map<string, Required<Spec>>();
  const values: Record<string, Input> = {};
  for (const [name, value] of Object.entries(inputs)) {
    if (value === undefined) continue;
    if (isSpec(value)) specs.set(name, { dtype: value.dtype ?? 'float32', shape: value.shape });
    else values[name] = value;
  }
  for (const [name, { dtype, shape }] of tensorsOf(values, specs.values())) specs.set(name, { dtype, shape });
  return specs;
}
