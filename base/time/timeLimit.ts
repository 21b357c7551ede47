import { MAX_TIMER_MS } from './duration.ts';

/** The time limit of a call, with a running timer. */
export interface TimeLimit {
  /** Aborts when the time is up. */
  readonly signal: AbortSignal;
  /** Stops the timer. Called when the call has completed. */
  readonly clear: () => void;
}

/**
 * Starts a time limit of `ms` milliseconds, which does not keep the process alive. Longer limits run as a series of
 * timers of at most `maxTimerMs`. The timer can be cleared, unlike the timer of `AbortSignal.timeout`, because a burst
 * of pods would otherwise leave thousands of timers behind until they fire.
 */
export function startTimeLimit(ms: number, maxTimerMs = MAX_TIMER_MS): TimeLimit {
  const controller = new AbortController();
  let timer: NodeJS.Timeout;
  const startTimer = (remainingMs: number) => {
    const onTimer = () => (remainingMs > maxTimerMs ? startTimer(remainingMs - maxTimerMs) : controller.abort());
    timer = setTimeout(onTimer, Math.ceil(Math.min(remainingMs, maxTimerMs))).unref();
  };
  startTimer(Math.max(0, ms));
  return { signal: controller.signal, clear: () => clearTimeout(timer) };
}
