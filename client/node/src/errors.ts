// What a failed call rejects with. docs/errors.md has the reasons.

import { fromBinary } from '@bufbuild/protobuf';
import { status as codes } from '@grpc/grpc-js';
import type { StatusObject } from '@grpc/grpc-js';

import { ErrorInfoSchema, RetryInfoSchema } from './generated/google/rpc/error_details_pb.js';
import { StatusSchema } from './generated/google/rpc/status_pb.js';
import type { Status } from './generated/google/rpc/status_pb.js';

/** The name of a gRPC status code: "INVALID_ARGUMENT". */
export type Code = keyof typeof codes;

/** The parts of an error that not all errors have. */
export interface ErrorParts {
  reason?: string;
  aclnnCode?: number | undefined;
  operator?: string;
  parameter?: string;
  want?: string;
  got?: string;
  retryAfterMs?: number | undefined;
  command?: number | undefined;
  cause?: unknown;
}

/** A call, or a command of a session, that failed. Its message has all that is known in one line. */
export class OpserveError extends Error {
  /** gRPC's status. */
  readonly code: Code;
  /** A constant of docs/errors.md; "" where gRPC itself failed: no server, the caller's deadline. */
  readonly reason: string;
  /** 161001, 161002, …; undefined where there is none. */
  readonly aclnnCode: number | undefined;
  /** What was wrong, in words; "" where it is not known. */
  readonly operator: string;
  readonly parameter: string;
  readonly want: string;
  readonly got: string;
  /** Milliseconds after which another try may succeed; undefined where the server does not say. */
  readonly retryAfterMs: number | undefined;
  /** The number of the session's command that failed; undefined for a call. */
  readonly command: number | undefined;

  constructor(message: string, code: Code, parts: ErrorParts = {}) {
    const { reason = '', aclnnCode, command } = parts;
    const front = [reason || code, aclnnCode].filter((part) => part !== undefined).join(' ');
    const back = command === undefined ? '' : ` (command ${command})`;
    super(`${front}: ${printable(message)}${back}`, parts.cause === undefined ? {} : { cause: parts.cause });
    this.name = new.target.name;
    this.code = code;
    this.reason = reason;
    this.aclnnCode = aclnnCode;
    this.operator = parts.operator ?? '';
    this.parameter = parts.parameter ?? '';
    this.want = parts.want ?? '';
    this.got = parts.got ?? '';
    this.retryAfterMs = parts.retryAfterMs;
    this.command = command;
  }
}

/** An argument is wrong: INVALID_ARGUMENT, OUT_OF_RANGE, FAILED_PRECONDITION. */
export class InvalidArgumentError extends OpserveError {}

/** No operator, device or object of that name. */
export class NotFoundError extends OpserveError {}

/** The server, the device or its product profile lacks it. */
export class UnsupportedError extends OpserveError {}

/** The deadline passed. */
export class DeadlineError extends OpserveError {}

/** No server there, it is stopping, or its device is gone. */
export class UnavailableError extends OpserveError {}

/** A bound on memory, calls in flight, time or a message's size was met. */
export class ResourceError extends OpserveError {}

/** The call was cancelled. Where an AbortSignal did, its name is "AbortError", and `cause` is the signal's reason. */
export class CancelledError extends OpserveError {}

/** A device fault, a defect of opserve, or an answer that makes no sense. */
export class InternalError extends OpserveError {}

const CLASSES: Partial<Record<Code, typeof OpserveError>> = {
  INVALID_ARGUMENT: InvalidArgumentError,
  OUT_OF_RANGE: InvalidArgumentError,
  FAILED_PRECONDITION: InvalidArgumentError,
  NOT_FOUND: NotFoundError,
  UNIMPLEMENTED: UnsupportedError,
  DEADLINE_EXCEEDED: DeadlineError,
  UNAVAILABLE: UnavailableError,
  RESOURCE_EXHAUSTED: ResourceError,
  CANCELLED: CancelledError,
  INTERNAL: InternalError,
};

const DETAILS_KEY = 'grpc-status-details-bin';
const PUSHBACK_KEY = 'grpc-retry-pushback-ms';
const MAX_TEXT = 4096;

/** The error of a code, in its class. */
export function errorOf(message: string, code: Code, parts: ErrorParts = {}): OpserveError {
  return new (CLASSES[code] ?? OpserveError)(message, code, parts);
}

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

/** An answer that no server of this protocol sends. */
export function badAnswer(what: string): InternalError {
  return new InternalError(`the server's answer makes no sense: ${what}`, 'INTERNAL');
}

/** The error of a call whose AbortSignal was aborted. */
export function abortError(signal: AbortSignal): OpserveError {
  const isTimeout = signal.reason instanceof DOMException && signal.reason.name === 'TimeoutError';
  if (isTimeout) return new DeadlineError('the signal timed out', 'DEADLINE_EXCEEDED', { cause: signal.reason });
  const error = new CancelledError('the call was aborted', 'CANCELLED', { cause: signal.reason });
  error.name = 'AbortError';
  return error;
}

function codeOf(code: number): Code {
  return (codes[code] as Code | undefined) ?? 'UNKNOWN';
}

function infoParts(value: Uint8Array): ErrorParts {
  const { reason, metadata } = fromBinary(ErrorInfoSchema, value);
  const word = (name: string) => printable(metadata[name] ?? '');
  const code = /^\d{1,9}$/.test(metadata['code'] ?? '') ? Number(metadata['code']) : undefined;
  const words = { operator: word('operator'), parameter: word('parameter'), want: word('want'), got: word('got') };
  return { reason: printable(reason), aclnnCode: code, ...words };
}

function retryDelayMs(value: Uint8Array): number | undefined {
  const delay = fromBinary(RetryInfoSchema, value).retryDelay;
  return delay === undefined ? undefined : Number(delay.seconds) * 1e3 + delay.nanos * 1e-6;
}

function pushbackMs(error: RpcFailure): number | undefined {
  const [text] = error.metadata?.get(PUSHBACK_KEY) ?? [];
  return typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** A server's text as it can be shown: short, without control characters. */
function printable(text: string): string {
  const shown = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
  return shown.replace(/[\u0000-\u001f\u007f-\u009f]/g, '?');
}
