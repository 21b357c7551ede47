import { effect } from '@preact/signals';

/** Minimum interval between two requests. */
const MIN_INTERVAL_MS = 500;

interface RequestOptions<Request> {
  /** Returns the current request, computed from signals. Undefined if nothing should be requested. */
  readonly currentRequest: () => Request | undefined;
  /** Whether two requests have the same response. */
  readonly isSame: (a: Request, b: Request) => boolean;
  /** Whether a request is sent at once, even while the previous one is in progress. The default is never. */
  readonly isUrgent?: (request: Request, previous: Request) => boolean;
  /** Sends a request. Never rejects. */
  readonly send: (question: Request) => Promise<void>;
  readonly setTimeout: (after: () => void, ms: number) => unknown;
}

/** Sends a request whenever its parameters change, one at a time, until the returned function is called. */
export function requestOnChange<Request>({
  currentRequest,
  isSame,
  isUrgent = () => false,
  send,
  setTimeout: later,
}: RequestOptions<Request>): () => void {
  let lastRequest: Request | undefined;
  let isResting = false;
  let count = 0;
  let isStopped = false;
  const requestIfChanged = () => {
    const next = currentRequest();
    if (isStopped || next === undefined || (lastRequest !== undefined && isSame(next, lastRequest))) return;
    if (isResting && !(lastRequest !== undefined && isUrgent(next, lastRequest))) return;
    lastRequest = next;
    isResting = true;
    count += 1;
    const requestId = count;
    const interval = new Promise<void>((resolve) => void later(resolve, MIN_INTERVAL_MS));
    void Promise.all([send(next), interval]).then(() => {
      if (requestId !== count) return;
      isResting = false;
      requestIfChanged();
    });
  };
  const unsubscribe = effect(requestIfChanged);
  return () => {
    isStopped = true;
    unsubscribe();
  };
}

/** Whether two lists have identical elements. */
export const isSameList = (a: readonly unknown[], b: readonly unknown[]): boolean =>
  a.length === b.length && a.every((each, index) => each === b[index]);
