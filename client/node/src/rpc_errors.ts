// The errors that gRPC's statuses and their details tell of.

import { fromBinary } from '@bufbuild/protobuf';
import type { StatusObject } from '@grpc/grpc-js';

import { ErrorInfoSchema, RetryInfoSchema } from './generated/google/rpc/error_details_pb.js';
import { StatusSchema } from './generated/google/rpc/status_pb.js';
import type { Status } from './generated/google/rpc/status_pb.js';
import { CODES, errorOf, partsOfInfo } from './values/errors.js';
import type { Code, ErrorParts, OpserveError } from './values/errors.js';

const DETAILS_KEY = 'grpc-status-details-bin';
const PUSHBACK_KEY = 'grpc-retry-pushback-ms';

/** The error that a google.rpc.Status tells of. */
export function errorOfStatus(status: Status, known: ErrorParts = {}): OpserveError {
  const parts = { ...known };
  for (const { typeUrl, value } of status.details) {
    if (typeUrl.endsWith('/google.rpc.ErrorInfo')) Object.assign(parts, infoParts(value));
    if (typeUrl.endsWith('/google.rpc.RetryInfo')) parts.retryAfterMs = retryDelayMs(value);
  }
  return errorOf(status.message, codeOf(status.code), parts);
}

/** The error that gRPC's error of a call stands for. */
export function errorOfRpc(error: RpcFailure): OpserveError {
  const known = { retryAfterMs: pushbackMs(error) };
  const [details] = error.metadata?.get(DETAILS_KEY) ?? [];
  if (details instanceof Uint8Array) {
    try {
      return errorOfStatus(fromBinary(StatusSchema, details), known);
    } catch {
      // Bytes that are no Status: what gRPC says must do.
    }
  }
  return errorOf(error.details ?? '', codeOf(error.code), known);
}

/** What gRPC's errors of calls and the statuses of streams have. */
export type RpcFailure = Pick<StatusObject, 'code' | 'details'> & { metadata?: StatusObject['metadata'] };

function codeOf(code: number): Code {
  return CODES[code] ?? 'UNKNOWN';
}

function infoParts(value: Uint8Array): ErrorParts {
  const { reason, metadata } = fromBinary(ErrorInfoSchema, value);
  return partsOfInfo(reason, metadata);
}

function retryDelayMs(value: Uint8Array): number | undefined {
  const delay = fromBinary(RetryInfoSchema, value).retryDelay;
  return delay === undefined ? undefined : Number(delay.seconds) * 1e3 + delay.nanos * 1e-6;
}

function pushbackMs(error: RpcFailure): number | undefined {
  const [text] = error.metadata?.get(PUSHBACK_KEY) ?? [];
  return typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
