// The client.

import type { AnyOperatorName, InputsOf, OutputNameOf, Rest } from '../../node/src/values/names.js';
import type { CallOptions } from '../../node/src/values/retries.js';
import type { Input, Tensor } from '../../node/src/values/tensor.js';
import { healthRequest, operatorRequest, operatorsRequest, serverRequest } from './discovery.js';
import type { Operator, OperatorState, ServerInfo } from './discovery.js';
import { Http } from './http.js';
import type { ConnectOptions } from './http.js';
import { inferRequest } from './infer.js';
import type { ExecuteOptions } from './infer.js';

/**
 * A client of the server whose HTTP port is at `url`: "http://localhost:8600", or "https://host/path" of a proxy in front of it. The
 * server is asked what it is: without one that answers, the promise is rejected.
 */
export async function connect(
  url: string | URL,
  options: ConnectOptions & Pick<CallOptions, 'signal'> = {},
): Promise<Client> {
  const http = new Http(url, options);
  return new Client(http, await http.call(serverRequest(), { signal: options.signal }));
}

/** A server's operators. Any number of calls may be under way. There is nothing to close: each call is a request of its own. */
export class Client {
  readonly #http: Http;

  /** @internal */
  constructor(
    http: Http,
    /** What the server said when the client connected. */
    readonly server: ServerInfo,
  ) {
    this.#http = http;
  }

  /**
   * Runs an operator; gives its outputs by name. Typed arrays may change when the function has returned its promise. `attributes` with
   * a default may be left out.
   */
  async execute<Name extends AnyOperatorName, const Wanted extends OutputNameOf<Name> = OutputNameOf<Name>>(
    op: Name,
    inputs: InputsOf<Name, Input>,
    ...rest: Rest<Name, ExecuteOptions<Wanted>>
  ): Promise<{ readonly [Output in Wanted]: Tensor }> {
    const [attributes = {}, options = {}] = rest;
    const timeoutMs = this.#http.timeoutMsOf(options);
    const request = inferRequest(op, inputs, attributes, { ...options, timeoutMs });
    return this.#http.call(request, options) as Promise<{ readonly [Output in Wanted]: Tensor }>;
  }

  /** The server's operators by name, and which of them can be called now. */
  async operators(options: CallOptions = {}): Promise<OperatorState[]> {
    return this.#http.call(operatorsRequest(), options);
  }

  /** What an operator takes and gives. */
  async operator(name: AnyOperatorName, options: CallOptions = {}): Promise<Operator> {
    return this.#http.call(operatorRequest(name), options);
  }

  /** Whether the server runs. */
  async isLive(options: CallOptions = {}): Promise<boolean> {
    return this.#http.call(healthRequest('/v2/health/live'), options);
  }

  /** Whether the server takes calls: it is not stopping, and a device works. */
  async isReady(options: CallOptions = {}): Promise<boolean> {
    return this.#http.call(healthRequest('/v2/health/ready'), options);
  }
}
