// The bidirectional RPC below a session: commands out, answers in, and which failure is told where.

import { create, toBinary } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { status as codes } from '@grpc/grpc-js';
import type { StatusObject } from '@grpc/grpc-js';

import type { SessionStream } from './channel.js';
import { errorOfRpc, errorOfStatus } from './rpc_errors.js';
import { abortError, badAnswer, errorOf, OpserveError } from './values/errors.js';
import { CommandSchema, SessionResponseSchema } from './generated/opserve/v1/session_pb.js';
import type { Answer, OutputChunk, SessionInfo } from './generated/opserve/v1/session_pb.js';
import { joined, parsed } from './wire.js';

/** A command as its message's `command` is made: { case: 'free', value: { buffer: 1n } }. */
export type Command = Extract<NonNullable<MessageInitShape<typeof CommandSchema>['command']>, { case: string }>;

export interface SendOptions {
  /** The stream in whose turn it runs; on none unless given. */
  stream?: bigint;
  /** The bytes of an upload; they must not change before `onSent`. */
  data?: Uint8Array;
  onSent?: () => void;
  /** Takes the chunks of its answers; what it throws ends the session. */
  onChunk?: (chunk: OutputChunk, bytes: Uint8Array) => void;
  timeoutMs?: number | undefined;
}

/** A command that is not over, or whose failure was not told yet. */
export interface Pending {
  readonly number: bigint;
  readonly stream: bigint;
  readonly onChunk: SendOptions['onChunk'];
  isOver: boolean;
  answer?: Answer;
  error?: OpserveError;
}

interface Queued {
  readonly number: bigint;
  readonly command: Command;
  readonly options: SendOptions;
}

// A message is full with so many commands or bytes.
const MESSAGE_COMMANDS = 512;
const MESSAGE_BYTES = 2 ** 20;

/** Every command is answered; a failure that nobody waits for is kept until `wait` of a later command tells it. */
export class Conversation {
  readonly #rpc: SessionStream;
  readonly #signal: AbortSignal | undefined;
  readonly #abort = () => this.cancel(abortError(this.#signal!));
  readonly #queue: Queued[] = [];
  readonly #pending = new Map<bigint, Pending>();
  #last = 0n;
  #unanswered = 0;
  #isScheduled = false;
  #isFull = false; // what was written waits for the transport
  #isFinishing = false;
  #ended: OpserveError | undefined;
  #info: SessionInfo | undefined;
  #isDraining = false;
  #change: Promise<void>;
  #changed!: () => void;

  constructor(rpc: SessionStream, signal?: AbortSignal) {
    this.#rpc = rpc;
    this.#signal = signal;
    signal?.addEventListener('abort', this.#abort);
    this.#change = this.#nextChange();
    rpc.on('data', (message: Buffer) => this.#read(message));
    rpc.on('drain', () => {
      this.#isFull = false;
      this.#pump();
    });
    rpc.on('error', () => undefined); // `status` says the same
    rpc.on('status', (status: StatusObject) => {
      this.#end(status.code === codes.OK ? errorOf('the session is over', 'CANCELLED') : errorOfRpc(status));
    });
  }

  /** Waits for the server's first word. */
  async opened(): Promise<void> {
    await this.#until(() => this.#info !== undefined);
  }

  get info(): SessionInfo {
    return this.#info!;
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  get isOpen(): boolean {
    return this.#ended === undefined && !this.#isFinishing;
  }

  // ---- commands out

  /** Sends a command, soon, with those beside it. Throws what ended the session. */
  send(command: Command, options: SendOptions = {}): Pending {
    if (this.#ended !== undefined) throw this.#ended;
    if (this.#isFinishing) throw errorOf('the session is closed', 'CANCELLED');
    const number = ++this.#last;
    const pending: Pending = { number, stream: options.stream ?? 0n, onChunk: options.onChunk, isOver: false };
    this.#pending.set(number, pending);
    this.#queue.push({ number, command, options });
    if (!this.#isScheduled) {
      this.#isScheduled = true;
      setImmediate(() => this.#pump());
    }
    return pending;
  }

  /** Writes messages while the transport and the server take them. */
  #pump(): void {
    this.#isScheduled = false;
    let begin = 0;
    while (begin < this.#queue.length && !this.#isFull && this.#unanswered < this.#limit() && !this.#ended) {
      begin = this.#write(begin);
    }
    this.#queue.splice(0, begin);
    if (this.#isFinishing && this.#queue.length === 0 && !this.#rpc.writableEnded) this.#rpc.end();
  }

  #limit(): number {
    const queued = Number(this.#info?.maxQueuedCommands ?? 0n);
    return queued > 0 ? Math.max(1, queued / 2) : 1024;
  }

  /** Writes a message of the commands from `begin` on, up to one that fills it, and gives the place of the next. */
  #write(begin: number): number {
    const taken = Number(this.#info?.maxMessageBytes ?? 0n);
    const full = taken > 0 ? Math.min(MESSAGE_BYTES, taken / 4) : MESSAGE_BYTES;
    const most = Math.min(MESSAGE_COMMANDS, Math.ceil(this.#limit() - this.#unanswered));
    const commands: Uint8Array[] = [];
    const raw: Uint8Array[] = [];
    let size = 0;
    for (const { number, command, options } of this.#queue.slice(begin, begin + most)) {
      if (command.case === 'upload') command.value.rawIndex = raw.push(options.data ?? new Uint8Array(0)) - 1;
      const timeoutNs = BigInt(Math.round((options.timeoutMs ?? 0) * 1e6));
      const bytes = toBinary(CommandSchema, create(CommandSchema, { id: number, timeoutNs, command }));
      commands.push(bytes);
      size += bytes.length + (options.data?.length ?? 0);
      if (size >= full) break;
    }
    const end = begin + commands.length;
    this.#unanswered += commands.length;
    this.#isFull = !this.#rpc.write(joined(commands, raw));
    for (const { options } of this.#queue.slice(begin, end)) options.onSent?.();
    return end;
  }

  // ---- answers in

  #read(message: Buffer): void {
    if (this.#ended !== undefined) return;
    try {
      const { answers, raw } = parsed(SessionResponseSchema, message);
      for (const answer of answers) this.#take(answer, raw);
    } catch (error) {
      this.#end(error instanceof OpserveError ? error : badAnswer(String(error)));
      this.#rpc.cancel();
      return;
    }
    this.#notify();
    if (this.#queue.length > 0) this.#pump();
  }

  #take(answer: Answer, raw: readonly Uint8Array[]): void {
    if (answer.id === 0n) {
      if (answer.answer.case === 'info') this.#info = answer.answer.value;
      this.#isDraining ||= answer.answer.case === 'draining';
      return;
    }
    const pending = this.#pending.get(answer.id);
    if (pending === undefined || pending.isOver) throw badAnswer(`command ${answer.id} is not under way`);
    if (answer.answer.case === 'chunk') {
      const chunk = answer.answer.value;
      const bytes = raw[chunk.rawIndex];
      if (pending.onChunk === undefined || bytes === undefined) throw badAnswer(`a chunk for command ${answer.id}`);
      pending.onChunk(chunk, bytes);
    }
    if (!answer.more) this.#finishCommand(pending, answer);
  }

  #finishCommand(pending: Pending, answer: Answer): void {
    pending.isOver = true;
    pending.answer = answer;
    this.#unanswered--;
    if (answer.error === undefined) this.#pending.delete(pending.number);
    else pending.error = errorOfStatus(answer.error, { command: Number(answer.failedCommand || pending.number) });
  }

  #end(error: OpserveError): void {
    this.#signal?.removeEventListener('abort', this.#abort);
    this.#ended ??= error;
    for (const { options } of this.#queue.splice(0)) options.onSent?.();
    this.#notify();
  }

  // ---- waiting

  /** The last answer of a command. Rejects with the first failure among it and what came before it, on its stream or on none. */
  async wait(command: Pending): Promise<Answer> {
    this.#pump();
    await this.#until(() => command.isOver && !this.#isBehind(command));
    const failed = [...this.#before(command)].filter((other) => other.error !== undefined);
    if (command.error !== undefined) failed.push(command);
    for (const other of failed) this.#pending.delete(other.number);
    if (failed.length > 0) throw firstOf(failed).error;
    return command.answer!;
  }

  /** Whether a command before it, on its stream or on none, is not over. */
  #isBehind(command: Pending): boolean {
    for (const other of this.#before(command)) if (!other.isOver) return true;
    return false;
  }

  *#before({ number, stream }: Pending): Iterable<Pending> {
    for (const other of this.#pending.values()) {
      if (other.number >= number) return; // they are in order
      if (other.stream === 0n || stream === 0n || other.stream === stream) yield other;
    }
  }

  /** Waits for a command that tells the server that failures were told, and drops those that only followed from them. */
  async forgive(command: Pending): Promise<void> {
    this.#pump();
    await this.#until(() => command.isOver);
    for (const other of this.#pending.values()) {
      const hasFollowed = other === command || other.error?.reason === 'STREAM_FAILED';
      if (other.number <= command.number && hasFollowed) this.#pending.delete(other.number);
    }
  }

  /** Half-closes, waits for the server to finish what was sent, and rejects with the first failure that was not told. */
  async finish(): Promise<void> {
    if (!this.#isFinishing) {
      this.#isFinishing = true;
      this.#pump();
    }
    while (this.#ended === undefined) await this.#change;
    const untold = [...this.#pending.values()];
    this.#pending.clear();
    const failed = untold.filter((pending) => pending.error !== undefined);
    if (failed.length > 0) throw firstOf(failed).error;
    if (untold.length > 0) throw this.#ended;
  }

  /** Ends the RPC at once: the server drops what waits. */
  cancel(error = errorOf('the session was cancelled', 'CANCELLED')): void {
    this.#isFinishing = true;
    this.#rpc.cancel();
    this.#end(error);
    this.#pending.clear();
  }

  async #until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      if (this.#ended !== undefined) throw this.#ended;
      await this.#change;
    }
  }

  #notify(): void {
    const changed = this.#changed;
    this.#change = this.#nextChange();
    changed();
  }

  #nextChange(): Promise<void> {
    return new Promise((resolve) => (this.#changed = resolve));
  }
}

/** The one that failed first: what the others fail with may tell of it. */
function firstOf(failed: readonly Pending[]): Pending {
  const command = ({ error, number }: Pending) => error?.command ?? Number(number);
  return failed.reduce((first, other) => (command(other) < command(first) ? other : first));
}
