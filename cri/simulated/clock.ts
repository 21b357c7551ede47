import { CallError } from './callError.ts';

/** Where the simulated runtime takes its time from; milliseconds. */
export interface Clock {
  now(): number;
  setTimeout(fn: () => void, ms: number): unknown;
  clearTimeout(id: unknown): void;
}

/** A clock's moment as the CRI has it: nanoseconds since the epoch. */
export function nanoseconds(ms: number): bigint {
  return BigInt(Math.trunc(ms)) * 1_000_000n;
}

/** Waits `ms` milliseconds; rejects when the signal aborts first. Zero does not wait at all. */
export async function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (ms > 0) await within(new Promise<never>(() => {}), clock, ms, signal);
  else throwIfAborted(signal);
}

/** Whether the event comes within `ms` milliseconds (absent: however long it takes); rejects as `pause` does. */
export function within(
  event: Promise<unknown>,
  clock: Clock,
  ms: number | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  throwIfAborted(signal);
  return new Promise((resolve, reject) => {
    const finish = (act: () => void) => {
      if (timer !== undefined) clock.clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      act();
    };
    const abort = () => finish(() => reject(reasonOf(signal)));
    const timer = ms === undefined ? undefined : clock.setTimeout(() => finish(() => resolve(false)), ms);
    signal.addEventListener('abort', abort, { once: true });
    event.then(
      () => finish(() => resolve(true)),
      (error: unknown) => finish(() => reject(error)),
    );
  });
}

function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw reasonOf(signal);
}

/** The runtime's own going away, or else that the caller has given up. */
function reasonOf({ reason }: AbortSignal): CallError {
  return reason instanceof CallError ? reason : new CallError('CANCELLED', 'context canceled');
}
