// The errors that answers of HTTP tell of.

import { CODES, errorOf, partsOfInfo } from '../../node/src/values/errors.js';
import type { Code, ErrorParts, OpserveError } from '../../node/src/values/errors.js';
import { isObject, member, parsed } from './json.js';
import type { Members } from './json.js';

// Where the answer does not say: it is another program's, such as a proxy's.
const CODE_OF_STATUS: Readonly<Record<number, Code>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  405: 'UNIMPLEMENTED',
  408: 'DEADLINE_EXCEEDED',
  409: 'ABORTED',
  413: 'RESOURCE_EXHAUSTED',
  415: 'INVALID_ARGUMENT',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
  500: 'INTERNAL',
  501: 'UNIMPLEMENTED',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

/** The error of an answer whose status is none of success; `body` is undefined where it could not be read. */
export function errorOfAnswer({ status, headers }: Response, body: Uint8Array | undefined): OpserveError {
  const told = toldOf(body);
  const text = member(told, 'error');
  const code = member(told, 'code');
  const known = CODES.find((name) => name === code && name !== 'OK');
  const parts: ErrorParts = { ...partsOf(member(told, 'info')), retryAfterMs: retryAfterMs(told, headers) };
  const message = typeof text === 'string' ? text : `the server answered with the status ${status}`;
  return errorOf(message, known ?? CODE_OF_STATUS[status] ?? 'UNKNOWN', parts);
}

function toldOf(body: Uint8Array | undefined): Members {
  try {
    const told = body === undefined ? {} : parsed(body);
    return isObject(told) ? told : {};
  } catch {
    return {}; // a page of HTML: the status must do
  }
}

function partsOf(info: unknown): ErrorParts {
  if (!isObject(info)) return {};
  const reason = member(info, 'reason');
  const metadata = member(info, 'metadata');
  const texts = Object.entries(isObject(metadata) ? metadata : {}).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return partsOfInfo(typeof reason === 'string' ? reason : '', Object.fromEntries(texts));
}

/** As exactly as the answer has it: milliseconds in its body, or seconds or a date in its header. */
function retryAfterMs(told: Members, headers: Headers): number | undefined {
  const exact = member(told, 'retry_after_ms');
  if (typeof exact === 'number' && exact >= 0) return exact;
  const header = headers.get('Retry-After') ?? '';
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}
