// How calls travel: fetch, deadlines, retries, and answers of no more than so many bytes.

import { abortError, errorOf, OpserveError } from '../../node/src/values/errors.js';
import { deadlineAfter, DEFAULT_TIMEOUT_MS, retried } from '../../node/src/values/retries.js';
import type { CallOptions } from '../../node/src/values/retries.js';
import { readBody } from './body.js';
import { errorOfAnswer } from './rest_errors.js';
import { baseOf, checkToken } from './url.js';

/** What makes requests: the platform's `fetch`, or another function like it. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface ConnectOptions {
  /** Milliseconds that each call may take, those of its retries included, unless the call says otherwise; 5000 unless given. */
  timeoutMs?: number;
  /** Sent as `Authorization: Bearer …` with each call; over a network only by https. */
  token?: string;
  /** Makes the requests; the platform's unless given. */
  fetch?: Fetch;
  /** The largest answer that is taken; 256 MiB, as servers have it, unless given. */
  maxAnswerBytes?: number;
}

/** What a server answered with a status of success. */
export interface Answer {
  readonly headers: Headers;
  readonly body: Uint8Array;
}

/** A request, and what reads its answer. */
export interface Request<T> {
  readonly method: 'GET' | 'POST';
  /** Behind the server's URL. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array<ArrayBuffer>;
  /** Where in the body the bytes of tensors begin; checked before the body is read. */
  readonly alignedAt?: (headers: Headers) => number;
  /** Statuses besides those of success that are answers. */
  readonly alsoTaken?: readonly number[];
  readonly read: (answer: Answer, status: number) => T;
}

const MAX_ANSWER_BYTES = 256 * 2 ** 20;
const MAX_ERROR_BYTES = 64 * 2 ** 10;
// The longest time that timers have.
const MAX_TIMER_MS = 2 ** 31 - 1;

/** A server, as calls reach it. */
export class Http {
  readonly #base: URL;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #timeoutMs: number;
  readonly #fetch: Fetch;
  readonly #maxAnswerBytes: number;

  constructor(url: string | URL, options: ConnectOptions) {
    const { token, timeoutMs = DEFAULT_TIMEOUT_MS, maxAnswerBytes = MAX_ANSWER_BYTES } = options;
    this.#base = baseOf(url);
    checkToken(this.#base, token);
    if (!(maxAnswerBytes > 0)) throw new RangeError(`maxAnswerBytes: want > 0, got ${maxAnswerBytes}`);
    this.#headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
    this.#timeoutMs = timeoutMs;
    this.#maxAnswerBytes = maxAnswerBytes;
    this.#fetch = options.fetch ?? ((target, init) => fetch(target, init));
  }

  /** Milliseconds that a call may take. */
  timeoutMsOf({ timeoutMs = this.#timeoutMs }: CallOptions): number {
    return timeoutMs;
  }

  /** Makes a call. It is tried again where no server answers or is ready, and where the server says when. */
  async call<T>(request: Request<T>, options: CallOptions): Promise<T> {
    const deadline = deadlineAfter(this.timeoutMsOf(options));
    return retried(deadline, options.signal, () => this.#attempt(request, deadline, options.signal));
  }

  async #attempt<T>(request: Request<T>, deadline: number, signal: AbortSignal | undefined): Promise<T> {
    if (signal?.aborted) throw abortError(signal);
    const ending = new AbortController();
    const cancel = () => ending.abort();
    const leftMs = Math.max(0, deadline - Date.now());
    const timer = leftMs <= MAX_TIMER_MS ? setTimeout(cancel, leftMs) : undefined;
    signal?.addEventListener('abort', cancel);
    try {
      return await this.#exchange(request, ending.signal);
    } catch (error) {
      if (signal?.aborted) throw abortError(signal);
      if (ending.signal.aborted) throw errorOf('the deadline passed', 'DEADLINE_EXCEEDED', { cause: error });
      throw error;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', cancel);
      ending.abort(); // what is left of an answer that was refused
    }
  }

  async #exchange<T>(request: Request<T>, signal: AbortSignal): Promise<T> {
    const response = await this.#send(request, signal);
    const { status, headers } = response;
    if (!response.ok && !request.alsoTaken?.includes(status)) {
      throw errorOfAnswer(response, await this.#receive(response, MAX_ERROR_BYTES).catch(() => undefined));
    }
    const position = request.alignedAt?.(headers) ?? 0;
    return request.read({ headers, body: await this.#receive(response, this.#maxAnswerBytes, position) }, status);
  }

  async #send({ method, path, headers, body }: Request<unknown>, signal: AbortSignal): Promise<Response> {
    const init: RequestInit = {
      method,
      headers: { ...this.#headers, ...headers },
      signal,
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'manual', // a token is for one server; with 'error', Node forgets the signal (nodejs/undici#4627)
      referrerPolicy: 'no-referrer',
      ...(body === undefined ? {} : { body }),
    };
    let response: Response;
    try {
      response = await this.#fetch(`${this.#base.href.replace(/\/$/, '')}${path}`, init);
    } catch (error) {
      throw errorOf(`no answer from ${this.#base.href}${this.#originHint()}`, 'UNAVAILABLE', { cause: error });
    }
    const { type, status } = response;
    if (type === 'opaqueredirect' || (status >= 300 && status < 400)) {
      throw errorOf(`${this.#base.href} sends calls to another URL: connect to that one`, 'UNAVAILABLE');
    }
    return response;
  }

  async #receive(response: Response, maxBytes: number, position = 0): Promise<Uint8Array> {
    try {
      return await readBody(response, maxBytes, position);
    } catch (error) {
      if (error instanceof OpserveError) throw error;
      throw errorOf(`${this.#base.href} broke off its answer`, 'UNAVAILABLE', { cause: error });
    }
  }

  // Browsers do not tell pages whether a server is not there or did not allow them.
  #originHint(): string {
    const page = (globalThis as { location?: { origin?: string } }).location?.origin;
    if (page === undefined || page === 'null' || page === this.#base.origin) return '';
    return `: is a server there, and does its --http-allow-origin name this page's origin, ${page}?`;
  }
}
