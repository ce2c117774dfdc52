// What a session holds on the server: tensors, streams, events and executors.

import { abortError } from './values/errors.js';
import { attributesOf } from './attributes.js';
import { calleeOf } from './program.js';
import type { Callee } from './program.js';
import type { AttributeValue } from './values/attribute_value.js';
import type { CallOptions } from './values/retries.js';
import type { Command, Conversation, Pending, SendOptions } from './conversation.js';
import { dataTypeOf } from './data_types.js';
import { itemSize } from './values/dtypes.js';
import type { DType } from './values/dtypes.js';
import { badAnswer } from './values/errors.js';
import type { Answer, OutputChunk } from './generated/opserve/v1/session_pb.js';
import { dense, sizeOf, tensor, Tensor, tensorOfWire, wireBytes } from './values/tensor.js';
import type { Input, Scalar } from './values/tensor.js';

/** On which stream; the session's own unless given. */
export interface OnStream {
  stream?: Stream;
}

type Value<Case extends Command['case']> = Extract<Command, { case: Case }>['value'];

/** What the objects of a session share. */
export class Scope {
  readonly context = 1n;
  readonly #registry: FinalizationRegistry<Command>;
  #lastId = 1n;
  #defaultStream: Stream | undefined;

  constructor(
    readonly talk: Conversation,
    device: string,
  ) {
    this.#registry = new FinalizationRegistry((command) => this.drop(command));
    talk.send({ case: 'createContext', value: { context: this.context, device } });
  }

  get defaultStream(): Stream {
    return (this.#defaultStream ??= new Stream(this));
  }

  /** An id for an object, which is dropped when the program has no more use of it. */
  adopt(object: WeakKey, dropOf: (id: bigint) => Command): bigint {
    const id = ++this.#lastId;
    this.#registry.register(object, dropOf(id), object);
    return id;
  }

  /** Drops an object now. */
  release(object: WeakKey, command: Command): void {
    if (this.#registry.unregister(object)) this.drop(command);
  }

  drop(command: Command): void {
    if (this.talk.isOpen) this.talk.send(command);
  }

  /** Sends a command and waits for its last answer. */
  async ask(command: Command, options: SendOptions & CallOptions = {}): Promise<Answer> {
    const { signal } = options;
    if (signal?.aborted) throw abortError(signal);
    const pending = this.talk.send(command, options);
    const cancel = () => this.drop({ case: 'cancel', value: { command: pending.number } });
    signal?.addEventListener('abort', cancel);
    try {
      return await this.#wait(pending);
    } catch (error) {
      throw signal?.aborted ? abortError(signal) : error;
    } finally {
      signal?.removeEventListener('abort', cancel);
    }
  }

  async #wait(command: Pending): Promise<Answer> {
    try {
      return await this.talk.wait(command);
    } catch (error) {
      // The failure is told: streams that it stopped go on with what comes next.
      if (this.talk.isOpen) await this.talk.forgive(this.talk.send(synchronizeCommand('context', this.context)));
      throw error;
    }
  }
}

export function synchronizeCommand(kind: 'context' | 'stream' | 'event', id: bigint): Command {
  return { case: 'synchronize', value: { target: { case: kind, value: id } } };
}

/** An object of a session, gone from the server when the program drops it, or with `free`, or a `using` declaration. */
abstract class Handle implements Disposable {
  readonly id: bigint;

  /** @internal */
  constructor(
    /** @internal */
    protected readonly scope: Scope,
    create: (id: bigint) => Command,
    private readonly dropOf: (id: bigint) => Command,
  ) {
    this.id = scope.adopt(this, dropOf);
    scope.talk.send(create(this.id));
  }

  /** Frees it now; work that uses it ends first. */
  free(): void {
    this.scope.release(this, this.dropOf(this.id));
  }

  [Symbol.dispose](): void {
    this.free();
  }

  protected lineOf({ stream }: OnStream): bigint {
    return (stream ?? this.scope.defaultStream).id;
  }
}

/** Work in order. What a command of it fails with stops those behind it until that is told. */
export class Stream extends Handle {
  /** @internal */
  constructor(scope: Scope) {
    super(
      scope,
      (stream) => ({ case: 'createStream', value: { stream, context: scope.context } }),
      (stream) => ({ case: 'destroyStream', value: { stream } }),
    );
  }

  /** Waits until all that is on it is done. Rejects with the first failure. */
  async synchronize(options: CallOptions = {}): Promise<void> {
    await this.scope.ask(synchronizeCommand('stream', this.id), { ...options, stream: this.id });
  }

  /** Whether nothing runs and nothing waits. */
  async isIdle(): Promise<boolean> {
    const { answer } = await this.scope.ask({ case: 'queryStream', value: { stream: this.id } });
    if (answer.case !== 'stream') throw badAnswer('no state of a stream');
    return answer.value.idle;
  }

  /** What comes later on this stream runs once the event was reached. */
  wait(event: Event): void {
    this.scope.talk.send({ case: 'waitEvent', value: { event: event.id, stream: this.id } }, { stream: this.id });
  }
}

/** Reached when all that was on the stream, as it was recorded there, has ended. */
export class Event extends Handle {
  /** @internal */
  constructor(scope: Scope) {
    super(
      scope,
      (event) => ({ case: 'createEvent', value: { event, context: scope.context } }),
      (event) => ({ case: 'destroyEvent', value: { event } }),
    );
  }

  record(options: OnStream = {}): this {
    const stream = this.lineOf(options);
    this.scope.talk.send({ case: 'recordEvent', value: { event: this.id, stream } }, { stream });
    return this;
  }

  async isReached(): Promise<boolean> {
    const { answer } = await this.scope.ask({ case: 'queryEvent', value: { event: this.id } });
    if (answer.case !== 'event') throw badAnswer('no state of an event');
    return answer.value.reached;
  }

  /** Waits until it was reached. */
  async synchronize(options: CallOptions = {}): Promise<void> {
    await this.scope.ask(synchronizeCommand('event', this.id), options);
  }

  /** Milliseconds from when `start` was reached; both must have been. */
  async millisecondsSince(start: Event): Promise<number> {
    const { answer } = await this.scope.ask({ case: 'queryElapsedTime', value: { start: start.id, end: this.id } });
    if (answer.case !== 'elapsedTime') throw badAnswer('no elapsed time');
    return Number(answer.value.elapsedNs) * 1e-6;
  }
}

/** A dense tensor on the device. */
export class DeviceTensor extends Handle {
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly byteLength: number;

  /** @internal */
  constructor(scope: Scope, shape: readonly number[], dtype: DType) {
    const byteLength = sizeOf(shape) * itemSize(dtype);
    super(
      scope,
      (buffer) => ({ case: 'allocate', value: { buffer, context: scope.context, sizeBytes: BigInt(byteLength) } }),
      (buffer) => ({ case: 'free', value: { buffer } }),
    );
    this.dtype = dtype;
    this.shape = [...shape];
    this.byteLength = byteLength;
  }

  /** How many elements it has. */
  get size(): number {
    return sizeOf(this.shape);
  }

  /**
   * Writes a tensor of this dtype and shape. Its elements must not change before the promise is fulfilled: then they are on their
   * way, behind what was given before. `onProgress` is told the bytes of each piece.
   */
  async upload(value: Input, options: OnStream & { onProgress?: (bytes: number) => void } = {}): Promise<void> {
    const given = dense(value instanceof Tensor ? value : tensor(value as never, this.shape, this.dtype));
    if (given.dtype !== this.dtype || given.shape.join() !== this.shape.join()) {
      throw new RangeError(
        `want a tensor ${this.dtype}[${this.shape.join(', ')}], got ${given.dtype}[${given.shape.join(', ')}]`,
      );
    }
    const bytes = wireBytes(given);
    const sent: Promise<void>[] = [];
    for (let start = 0, step = this.#chunkBytes(); start < bytes.length; start += step) {
      sent.push(this.#uploadPart(start, bytes.subarray(start, start + step), this.lineOf(options), options.onProgress));
    }
    await Promise.all(sent);
  }

  #uploadPart(start: number, data: Uint8Array, stream: bigint, onProgress?: (bytes: number) => void): Promise<void> {
    const destination = { buffer: this.id, offsetBytes: BigInt(start), rowBytes: BigInt(data.length) };
    const command: Command = { case: 'upload', value: { destination, stream } };
    return new Promise((resolve) => {
      const onSent = () => {
        onProgress?.(data.length);
        resolve();
      };
      this.scope.talk.send(command, { stream, data, onSent });
    });
  }

  /** Sets every element. */
  fill(value: Scalar, options: OnStream = {}): void {
    if (this.byteLength === 0) return;
    const stream = this.lineOf(options);
    const pattern = wireBytes(tensor(value, [], this.dtype));
    this.scope.talk.send({ case: 'fill', value: { destination: this.range(), pattern, stream } }, { stream });
  }

  /** Copies a tensor of as many bytes, on the device. */
  copyFrom(source: DeviceTensor, options: OnStream = {}): void {
    const stream = this.lineOf(options);
    const value: Value<'copy'> = { source: source.range(), destination: this.range(), stream };
    this.scope.talk.send({ case: 'copy', value }, { stream });
  }

  /** The elements. Rejects with the first failure on the stream. `onProgress` is told the bytes of each piece. */
  async download(options: OnStream & CallOptions & { onProgress?: (bytes: number) => void } = {}): Promise<Tensor> {
    const stream = this.lineOf(options);
    const bytes = new Uint8Array(this.byteLength);
    let received = 0;
    const onChunk = (chunk: OutputChunk, part: Uint8Array) => {
      if (chunk.offsetBytes !== BigInt(received) || part.length > bytes.length - received) {
        throw badAnswer('a chunk is out of place');
      }
      bytes.set(part, received);
      received += part.length;
      options.onProgress?.(part.length);
    };
    const command: Command = { case: 'download', value: { source: this.range(), stream } };
    await this.scope.ask(command, { signal: options.signal, timeoutMs: options.timeoutMs, stream, onChunk });
    if (received !== bytes.length) throw badAnswer(`${received} of ${bytes.length} bytes came`);
    return tensorOfWire(this.dtype, this.shape, bytes);
  }

  /** @internal */
  range() {
    return { buffer: this.id, rowBytes: BigInt(this.byteLength) };
  }

  #chunkBytes(): number {
    const { recommendedChunkBytes, maxMessageBytes } = this.scope.talk.info;
    const wanted = Math.max(4096, Math.min(Number(recommendedChunkBytes), Number(maxMessageBytes) / 2));
    return wanted - (wanted % 8);
  }

  override toString(): string {
    return `DeviceTensor ${this.dtype}[${this.shape.join(', ')}]`;
  }
}

/** A planned call. `outputs` has the tensors that `run` writes, by name. */
export class Executor<Outputs = Readonly<Record<string, DeviceTensor>>> extends Handle {
  /** @internal */
  constructor(
    scope: Scope,
    readonly op: Callee,
    readonly inputs: Readonly<Record<string, DeviceTensor>>,
    attributes: Readonly<Record<string, AttributeValue | undefined>>,
    readonly outputs: Outputs,
  ) {
    const call = {
      ...calleeOf(op),
      inputs: described(inputs),
      attributes: attributesOf(attributes),
      outputs: described(outputs as Readonly<Record<string, DeviceTensor>>),
    };
    super(
      scope,
      (executor) => ({ case: 'createExecutor', value: { executor, context: scope.context, call, repeatable: true } }),
      (executor) => ({ case: 'destroyExecutor', value: { executor } }),
    );
  }

  /** Phase two, in the stream's turn. Gives the outputs, without waiting. */
  run(options: OnStream = {}): Outputs {
    const stream = this.lineOf(options);
    this.scope.talk.send({ case: 'runExecutor', value: { executor: this.id, stream } }, { stream });
    return this.outputs;
  }
}

function described(tensors: Readonly<Record<string, DeviceTensor>>) {
  return Object.entries(tensors).map(([name, { dtype, shape, id }]) => ({
    name,
    dtype: dataTypeOf(dtype),
    shape: shape.map(BigInt),
    data: { case: 'buffer', value: { buffer: id } } as const,
  }));
}
