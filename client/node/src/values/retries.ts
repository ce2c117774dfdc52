// Deadlines, and when a call is tried again.

import { abortError, OpserveError } from './errors.js';

/** What any call takes. */
export interface CallOptions {
  /** Milliseconds that the call may take, those of its retries included; Infinity for any. */
  timeoutMs?: number | undefined;
  /** Cancels the call when it is aborted. */
  signal?: AbortSignal | undefined;
}

/** Milliseconds that a call may take where nobody says. */
export const DEFAULT_TIMEOUT_MS = 5000;

// A call is tried this often; the waits between double from the first, unless the server says how long.
const TRIES = 4;
const FIRST_WAIT_MS = 100;

/** When a call that begins now must have ended, on Date.now()'s clock. */
export function deadlineAfter(timeoutMs: number): number {
  if (Number.isNaN(timeoutMs) || timeoutMs <= 0) throw new RangeError(`timeoutMs: want > 0, got ${timeoutMs}`);
  return Date.now() + timeoutMs;
}

/** Makes `attempt` until it succeeds, or fails in a way that another try would not change, or no try is left. */
export async function retried<T>(
  deadline: number,
  signal: AbortSignal | undefined,
  attempt: () => Promise<T>,
): Promise<T> {
  for (let tries = 1, backoffMs = FIRST_WAIT_MS; ; tries++, backoffMs *= 2) {
    try {
      return await attempt();
    } catch (error) {
      const waitMs = tries < TRIES ? waitBefore(error, backoffMs) : undefined;
      if (waitMs === undefined || Date.now() + waitMs >= deadline) throw error;
      await pause(waitMs, signal);
    }
  }
}

export function isUnavailable(error: unknown): boolean {
  return error instanceof OpserveError && error.code === 'UNAVAILABLE';
}

/** Milliseconds before another try of a call that failed; undefined where that is of no use. */
function waitBefore(error: unknown, backoffMs: number): number | undefined {
  if (!(error instanceof OpserveError)) return undefined;
  return error.retryAfterMs ?? (isUnavailable(error) ? backoffMs * (0.8 + 0.4 * Math.random()) : undefined);
}

function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const aborted = () => {
      clearTimeout(timer);
      reject(abortError(signal!));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', aborted);
      resolve();
    }, milliseconds);
    if (signal?.aborted) aborted();
    else signal?.addEventListener('abort', aborted, { once: true });
  });
}
