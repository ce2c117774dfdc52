// How calls travel: connections, deadlines, retries.

import { Client as Connection, Metadata, status } from '@grpc/grpc-js';
import type { ClientDuplexStream } from '@grpc/grpc-js';

import { errorOfRpc } from './rpc_errors.js';
import { channelOptionsOf, checkTarget, checkToken, credentialsOf } from './target.js';
import type { ConnectOptions } from './target.js';
import { abortError, badAnswer, errorOf } from './values/errors.js';
import { deadlineAfter, DEFAULT_TIMEOUT_MS, isUnavailable, retried } from './values/retries.js';
import type { CallOptions } from './values/retries.js';

/** A unary call: its method, its message, and what reads the answer. */
export interface Request<T> {
  readonly method: string;
  readonly message: Buffer;
  readonly read: (answer: Buffer) => T;
}

export type SessionStream = ClientDuplexStream<Buffer, Buffer>;

const SERVICE = '/opserve.v1.OperatorService/';
const SESSION = '/opserve.v1.SessionService/Session';

/** Connections to the servers of a client, one for each target, of which one is used until it is not available. */
export class Channel {
  readonly targets: readonly string[];
  readonly #connections: readonly Connection[];
  readonly #metadata = new Metadata();
  readonly #timeoutMs: number;
  #current = 0;
  #isClosed = false;

  constructor(targets: readonly string[], options: ConnectOptions) {
    targets.forEach(checkTarget);
    if (targets.length === 0) throw new RangeError('target: want one or more, got none');
    checkToken(targets, options);
    this.targets = targets;
    this.#timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    if (options.token !== undefined) this.#metadata.set('authorization', `Bearer ${options.token}`);
    const credentials = credentialsOf(options.tls);
    this.#connections = targets.map((target) => new Connection(target, credentials, channelOptionsOf(options)));
  }

  /** Makes a call. Every unary method may be retried: UNAVAILABLE is, RESOURCE_EXHAUSTED is where the server says when. */
  async call<T>(request: Request<T>, options: CallOptions = {}): Promise<T> {
    const deadline = this.deadlineOf(options);
    const unary = (connection: Connection) => this.#unary(connection, request, deadline, options.signal);
    return request.read(await retried(deadline, options.signal, () => this.#tryTargets(options.signal, unary)));
  }

  /** When a call that begins now must have ended, on Date.now()'s clock. */
  deadlineOf({ timeoutMs = this.#timeoutMs }: CallOptions): number {
    return deadlineAfter(timeoutMs);
  }

  /** Opens the RPC of a session, which `opened` waits for. */
  async openSession<T>(options: CallOptions, opened: (rpc: SessionStream) => Promise<T>): Promise<T> {
    const deadline = this.deadlineOf(options);
    const open = (connection: Connection) =>
      opened(connection.makeBidiStreamRequest(SESSION, same, same, this.#metadata.clone(), { deadline }));
    return retried(deadline, options.signal, () => this.#tryTargets(options.signal, open));
  }

  /** Ends the connections. Later calls are rejected. */
  close(): void {
    this.#isClosed = true;
    for (const connection of this.#connections) connection.close();
  }

  /** Each target once, beginning with the one that answered last, until one is available. */
  async #tryTargets<T>(signal: AbortSignal | undefined, attempt: (connection: Connection) => Promise<T>): Promise<T> {
    for (let left = this.#connections.length - 1; ; left--) {
      if (this.#isClosed) throw errorOf('the client is closed', 'CANCELLED');
      if (signal?.aborted) throw abortError(signal);
      const tried = this.#current;
      try {
        return await attempt(this.#connections[tried]!);
      } catch (error) {
        if (!isUnavailable(error)) throw error;
        if (tried === this.#current) this.#current = (tried + 1) % this.#connections.length;
        if (left === 0) throw error;
      }
    }
  }

  #unary(
    connection: Connection,
    { method, message }: Request<unknown>,
    deadline: number,
    signal: AbortSignal | undefined,
  ): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      let answer: Buffer | undefined;
      // The channel's own call: makeUnaryRequest's costs a tenth of a small call more, for interceptors that nobody has.
      const call = connection.getChannel().createCall(SERVICE + method, deadline, undefined, null, undefined);
      const cancel = () => call.cancelWithStatus(status.CANCELLED, 'the call was aborted');
      call.start(this.#metadata, {
        onReceiveMetadata() {},
        onReceiveMessage(message: Buffer) {
          answer = message;
        },
        onReceiveStatus(ended) {
          signal?.removeEventListener('abort', cancel);
          if (signal?.aborted) reject(abortError(signal));
          else if (ended.code !== status.OK) reject(errorOfRpc(ended));
          else if (answer === undefined) reject(badAnswer('there is none'));
          else resolve(answer);
        },
      });
      signal?.addEventListener('abort', cancel);
      call.startRead();
      call.sendMessageWithContext({}, message);
      call.halfClose();
    });
  }
}

function same(bytes: Buffer): Buffer {
  return bytes;
}
