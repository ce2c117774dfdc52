// Where servers are, and how to speak to them.

import { credentials } from '@grpc/grpc-js';
import type { ChannelCredentials, ChannelOptions } from '@grpc/grpc-js';

/** An encrypted connection; names as in `node:tls`. All texts are PEM. */
export interface TlsOptions {
  /** Whose certificates servers must show; those that Node trusts unless given. */
  ca?: string | Uint8Array;
  /** What the client shows of itself to a server that wants it (mutual TLS). Both or none. */
  cert?: string | Uint8Array;
  key?: string | Uint8Array;
  /** The name that the server's certificate must have; the target's host unless given. */
  servername?: string;
}

export interface ConnectOptions {
  /** Milliseconds that each call may take, those of its retries included, unless the call says otherwise; 5000 unless given. */
  timeoutMs?: number;
  /** true for the certificates that Node trusts. Clear text unless given. */
  tls?: boolean | TlsOptions;
  /** Sent as `authorization: Bearer …` with each call; over a network only with `tls`. */
  token?: string;
  /**
   * Whether calls go to the addresses of a target in turn, to those that can be reached: for "dns:///name:port" where the name has an
   * address for each server, and for "ipv4:10.0.0.1:8500,10.0.0.2:8500". Otherwise all go to the first that can be reached. A session
   * stays with its server.
   */
  roundRobin?: boolean;
  /** The largest answer that is taken; 1 GiB unless given. */
  maxAnswerBytes?: number;
}

const MAX_ANSWER_BYTES = 2 ** 30;
const SCHEMES = /^(unix|unix-abstract|dns|ipv4|ipv6|xds):/;
const HOST_AND_PORT = /^(\[[0-9a-fA-F:.%]+\]|[^:/[\]\s]+):(\d{1,5})$/;

/** RangeError for what gRPC would take for something else: it gives a target without a port the port 443. */
export function checkTarget(target: string): void {
  if (SCHEMES.test(target)) return;
  const port = Number(HOST_AND_PORT.exec(target)?.[2] ?? 0);
  if (port < 1 || port > 65535) {
    throw new RangeError(`target: want "host:port", "unix:path" or "dns:///host:port", got ${JSON.stringify(target)}`);
  }
}

/** TypeError for a token that would be sent in clear text. */
export function checkToken(targets: readonly string[], { token, tls }: ConnectOptions): void {
  const open = targets.find((target) => !isLocal(target));
  if (token !== undefined && !tls && open !== undefined) {
    throw new TypeError(`token: want tls on its way to ${open}, where anyone could read it in clear text`);
  }
}

function isLocal(target: string): boolean {
  return /^(unix:|unix-abstract:|(localhost|127\.0\.0\.1|\[::1\]):\d+$)/.test(target);
}

export function credentialsOf(tls: ConnectOptions['tls']): ChannelCredentials {
  if (!tls) return credentials.createInsecure();
  const { ca, cert, key } = tls === true ? ({} as TlsOptions) : tls;
  if ((cert === undefined) !== (key === undefined)) {
    throw new TypeError(`tls: want cert and key, or none of them, got only ${cert === undefined ? 'key' : 'cert'}`);
  }
  return credentials.createSsl(pem(ca), pem(key), pem(cert));
}

export function channelOptionsOf(options: ConnectOptions): ChannelOptions {
  const { tls, roundRobin = false, maxAnswerBytes = MAX_ANSWER_BYTES } = options;
  const servername = typeof tls === 'object' ? tls.servername : undefined;
  return {
    'grpc.max_receive_message_length': maxAnswerBytes,
    'grpc.max_send_message_length': -1,
    'grpc.enable_retries': 0, // the channel's own take their place
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.max_reconnect_backoff_ms': 2000,
    'grpc.use_local_subchannel_pool': 1,
    'grpc.service_config_disable_resolution': 1,
    'grpc.service_config': JSON.stringify({
      loadBalancingConfig: [{ [roundRobin ? 'round_robin' : 'pick_first']: {} }],
    }),
    ...(servername === undefined
      ? {}
      : { 'grpc.ssl_target_name_override': servername, 'grpc.default_authority': servername }),
  };
}

function pem(text: string | Uint8Array | undefined): Buffer | null {
  if (text === undefined) return null;
  return typeof text === 'string' ? Buffer.from(text) : Buffer.from(text.buffer, text.byteOffset, text.byteLength);
}
