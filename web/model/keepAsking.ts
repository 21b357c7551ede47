import { effect } from '@preact/signals';

/** Minimum interval between two requests. */
const EVERY_MS = 500;

interface Asked<Question> {
  /** Returns the current request, computed from signals. Undefined if nothing should be requested. */
  readonly question: () => Question | undefined;
  /** Whether two requests have the same response. */
  readonly isSame: (one: Question, other: Question) => boolean;
  /** Whether a request is sent at once, even while the previous one is in progress. The default is never. */
  readonly isUrgent?: (question: Question, before: Question) => boolean;
  /** Never rejects. */
  readonly ask: (question: Question) => Promise<void>;
  readonly setTimeout: (after: () => void, ms: number) => unknown;
}

/** Sends a request whenever its parameters change, one at a time, until the returned function is called. */
export function keepAsking<Question>({
  question,
  isSame,
  isUrgent = () => false,
  ask,
  setTimeout: later,
}: Asked<Question>): () => void {
  let asked: Question | undefined;
  let isResting = false;
  let count = 0;
  let isOver = false;
  const look = () => {
    const next = question();
    if (isOver || next === undefined || (asked !== undefined && isSame(next, asked))) return;
    if (isResting && !(asked !== undefined && isUrgent(next, asked))) return;
    asked = next;
    isResting = true;
    count += 1;
    const own = count;
    const rested = new Promise<void>((resolve) => void later(resolve, EVERY_MS));
    void Promise.all([ask(next), rested]).then(() => {
      if (own !== count) return;
      isResting = false;
      look();
    });
  };
  const leave = effect(look);
  return () => {
    isOver = true;
    leave();
  };
}

/** Whether two lists have identical elements. */
export const isSameList = (one: readonly unknown[], other: readonly unknown[]): boolean =>
  one.length === other.length && one.every((each, index) => each === other[index]);
