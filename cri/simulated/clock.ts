import type { TimerClock } from '../../base/time/clock.ts';
import { CallError } from './faults/callError.ts';

/** Converts a timestamp of the clock in milliseconds to the CRI's nanoseconds since the epoch. */
export function millisToNanos(ms: number): bigint {
  return BigInt(Math.trunc(ms)) * 1_000_000n;
}

/** Waits `ms` milliseconds. Rejects if the signal aborts first. Returns immediately for zero. */
export async function pause(clock: TimerClock, ms: number, signal: AbortSignal): Promise<void> {
  if (ms > 0) await waitForEvent(new Promise<never>(() => {}), clock, ms, signal);
  else throwIfAborted(signal);
}

/**
 * Waits up to `ms` milliseconds for an event, or indefinitely if `ms` is undefined. Resolves to whether the event
 * occurred. Rejects if the signal aborts first.
 */
export function waitForEvent(
  event: Promise<unknown>,
  clock: TimerClock,
  ms: number | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  throwIfAborted(signal);
  return new Promise((resolve, reject) => {
    const settleOnce = (settle: () => void) => {
      if (timer !== undefined) clock.clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      settle();
    };
    const onAbort = () => settleOnce(() => reject(abortError(signal)));
    const timer = ms === undefined ? undefined : clock.setTimeout(() => settleOnce(() => resolve(false)), ms);
    signal.addEventListener('abort', onAbort, { once: true });
    event.then(
      () => settleOnce(() => resolve(true)),
      (error: unknown) => settleOnce(() => reject(error)),
    );
  });
}

function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw abortError(signal);
}

/**
 * Returns the error of a call whose signal has aborted: the runtime's error if the runtime went down, otherwise the
 * error of a call that the caller has cancelled.
 */
function abortError({ reason }: AbortSignal): CallError {
  return reason instanceof CallError ? reason : new CallError('CANCELLED', 'context canceled');
}
