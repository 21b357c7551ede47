import { constants } from 'node:os';
import { exitNow } from './exitNow.ts';

/**
 * Signals within this time after the first are treated as the same request, because npm also forwards a Ctrl-C that the
 * terminal has already sent to this process.
 */
const REPEAT_WINDOW_MS = 2000;

/** Signals that are sent by Ctrl-C, by an init system, and by a terminal that is closed. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Turns SIGINT, SIGTERM and SIGHUP into an `AbortSignal` that requests a graceful stop. Its reason is the signal's
 * name. Another signal at least two seconds later, or SIGQUIT, calls `beforeExit` and exits immediately with 128 + its
 * number.
 */
export function handleStopSignals(beforeExit: () => void = () => {}): {
  readonly stopSignal: AbortSignal;
  close(): void;
} {
  const controller = new AbortController();
  let firstSignalAt: number | undefined;
  const stopNow = (name: (typeof SIGNALS)[number] | 'SIGQUIT') => {
    beforeExit();
    exitNow(128 + constants.signals[name]);
  };
  const onSignal = (name: (typeof SIGNALS)[number]) => {
    const now = performance.now();
    if (firstSignalAt === undefined) {
      firstSignalAt = now;
      controller.abort(name);
    } else if (now - firstSignalAt >= REPEAT_WINDOW_MS) stopNow(name);
  };
  for (const name of SIGNALS) process.on(name, onSignal);
  process.on('SIGQUIT', stopNow);
  return {
    stopSignal: controller.signal,
    close: () => {
      for (const name of SIGNALS) process.off(name, onSignal);
      process.off('SIGQUIT', stopNow);
    },
  };
}

export function untilStopRequested(stopSignal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (stopSignal.aborted) resolve();
    else stopSignal.addEventListener('abort', () => resolve(), { once: true });
  });
}
