import { MAX_TIMER_MS } from './duration.ts';

/** The running timer that limits the duration of a call. */
export interface TimeLimit {
  /** Aborts when the time is up. */
  readonly signal: AbortSignal;
  /** Stops the timer. Called when the call has completed. */
  readonly clear: () => void;
}

/**
 * Starts a time limit of `ms` milliseconds. Its timer does not keep the process alive. Limits longer than `maxTimerMs`
 * run as a series of timers. Unlike the timer of `AbortSignal.timeout`, this timer can be cleared, so a burst of pods
 * does not leave thousands of pending timers behind.
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
