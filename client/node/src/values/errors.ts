// What a failed call rejects with. docs/errors.md has the reasons.

/** The names of gRPC's status codes, by their numbers. */
export const CODES = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
] as const;

/** The name of a gRPC status code: "INVALID_ARGUMENT". */
export type Code = (typeof CODES)[number];

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

const MAX_TEXT = 4096;

/** The error of a code, in its class. */
export function errorOf(message: string, code: Code, parts: ErrorParts = {}): OpserveError {
  return new (CLASSES[code] ?? OpserveError)(message, code, parts);
}

/** What an ErrorInfo (docs/errors.md) tells. */
export function partsOfInfo(reason: string, metadata: Readonly<Record<string, string>>): ErrorParts {
  const word = (name: string) => printable(Object.hasOwn(metadata, name) ? metadata[name]! : '');
  const code = /^\d{1,9}$/.test(word('code')) ? Number(word('code')) : undefined;
  const words = { operator: word('operator'), parameter: word('parameter'), want: word('want'), got: word('got') };
  return { reason: printable(reason), aclnnCode: code, ...words };
}

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

/** A server's text as it can be shown: short, without control characters. */
function printable(text: string): string {
  const shown = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
  return shown.replace(/[\u0000-\u001f\u007f-\u009f]/g, '?');
}
