/** Builds the configuration of states that wait for a timer. The machine declares the timer as `timer: timerPort()`. */
import type { TimerInput } from './timerInput.ts';

/**
 * Invokes a timer. The delay is a number of milliseconds or any other timer input, possibly computed from the context
 * when the state is entered.
 */
export function after<Context>(delay: number | ((context: Context) => number | TimerInput)) {
  const timerInput = (context: Context): TimerInput => {
    const input = typeof delay === 'number' ? delay : delay(context);
    return typeof input === 'number' ? { after: input } : input;
  };
  return { src: 'timer', input: ({ context }: { readonly context: Context }) => timerInput(context) } as const;
}

interface RetryWait {
  readonly description: string;
  readonly waitsFor: string;
  /** Maximum time until the next attempt, in milliseconds, even if the clock is adjusted in the meantime. */
  readonly withinMs?: number;
}

export interface RetryContext {
  /** Due time of the next attempt, in milliseconds since the epoch. */
  readonly retryAt: number;
}

/** Returns a state that waits for another attempt. The caller adds the transitions to that attempt. */
export const retryWaitState = ({ description, waitsFor, withinMs = Infinity }: RetryWait) =>
  ({
    description,
    tags: 'retrying',
    meta: { waitsFor, until: 'retryAt' },
    invoke: after(({ retryAt }: RetryContext) =>
      withinMs === Infinity ? { until: retryAt } : { until: retryAt, within: withinMs },
    ),
  }) as const;

/** Returns a state that transitions to `attempt` when the next attempt is due. */
export const retryState = <Attempt extends string>(attempt: Attempt, wait: RetryWait) =>
  ({ ...retryWaitState(wait), on: { 'timer.elapsed': attempt } }) as const;

/** Like `retryState`, but the state also transitions to `attempt` as soon as the runtime is available again. */
export const retryStateOnReturn = <Attempt extends string>(attempt: Attempt, wait: RetryWait) =>
  ({ ...retryWaitState(wait), on: { 'timer.elapsed': attempt, 'runtime.returned': attempt } }) as const;

/** Like `retryStateOnReturn`, but only if the last attempt failed because the runtime was unavailable. */
export const retryCallState = <Attempt extends string>(attempt: Attempt, wait: RetryWait) =>
  ({
    ...retryWaitState(wait),
    on: { 'timer.elapsed': attempt, 'runtime.returned': { guard: 'wasRuntimeUnavailable', target: attempt } },
  }) as const;
