/** Work in short steps, so that a long one does not keep everything else from the event loop. */
import { nextTurn } from './nextTurn.ts';

/** Work that is left. Each `next` does a short step of it; the last one returns the result. */
export type Steps<T> = Iterator<void, T>;

/** Takes all steps at once, and returns the result. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Takes `count` steps in each turn of the event loop, and returns the result. */
export async function overTurns<T>(steps: Steps<T>, count: number, turn = nextTurn): Promise<T> {
  for (let taken = 0; ; taken += 1) {
    if (taken > 0 && taken % count === 0) await turn();
    const step = steps.next();
    if (step.done) return step.value;
  }
}
