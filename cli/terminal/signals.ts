import { constants } from 'node:os';
import { exitNow } from './exitNow.ts';

/** Signals so soon after the first are the same wish to end: npm passes a terminal's Ctrl-C on a second time. */
const ONE_WISH_MS = 2000;

/** What asks for an end: Ctrl-C, an init system, and the terminal that closes. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Turns SIGINT, SIGTERM and SIGHUP into an `AbortSignal` that asks for a graceful end (its reason is the signal's name).
 * A further signal, two seconds or more after the first, ends the process at once with 128 + its number, and so does
 * SIGQUIT; before that `atOnce` may say what is left.
 */
export function endOnSignals(atOnce: () => void = () => {}): { readonly asked: AbortSignal; close(): void } {
  const controller = new AbortController();
  let firstAt: number | undefined;
  const endNow = (name: (typeof SIGNALS)[number] | 'SIGQUIT') => {
    atOnce();
    exitNow(128 + constants.signals[name]);
  };
  const onSignal = (name: (typeof SIGNALS)[number]) => {
    const now = performance.now();
    if (firstAt === undefined) {
      firstAt = now;
      controller.abort(name);
    } else if (now - firstAt >= ONE_WISH_MS) endNow(name);
  };
  for (const name of SIGNALS) process.on(name, onSignal);
  process.on('SIGQUIT', endNow);
  return {
    asked: controller.signal,
    close: () => {
      for (const name of SIGNALS) process.off(name, onSignal);
      process.off('SIGQUIT', endNow);
    },
  };
}

/** Resolves when a graceful end is asked for. */
export function askedToEnd(asked: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (asked.aborted) resolve();
    else asked.addEventListener('abort', () => resolve(), { once: true });
  });
}
