/** Splits long work into short steps, so that it does not block the event loop. */
import { yieldToEventLoop } from './yieldToEventLoop.ts';

/**
 * The remaining steps of a long computation. Each call of `next` runs one short step, and the last call returns the
 * result.
 */
export type Steps<T> = Iterator<void, T>;

/** Runs all steps without yielding to the event loop, and returns the result. */
export function runAllSteps<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Runs `count` steps in each turn of the event loop, and returns the result. */
export async function runStepsInTurns<T>(steps: Steps<T>, count: number, turn = yieldToEventLoop): Promise<T> {
  for (let stepCount = 0; ; stepCount += 1) {
    if (stepCount > 0 && stepCount % count === 0) await turn();
    const step = steps.next();
    if (step.done) return step.value;
  }
}
