import { effect } from '@preact/signals';

/** Minimum interval between two requests, in milliseconds. */
const MIN_INTERVAL_MS = 500;

interface RequestOptions<Request> {
  /** Returns the request to send, computed from signals. Undefined if there is nothing to request. */
  readonly currentRequest: () => Request | undefined;
  /** Whether two requests would have the same response. */
  readonly isSameRequest: (a: Request, b: Request) => boolean;
  /**
   * Whether to send a request immediately, even while the previous one is in progress. If undefined, no request is
   * urgent.
   */
  readonly isUrgent?: (request: Request, previous: Request) => boolean;
  /** Sends a request. Never rejects. */
  readonly send: (request: Request) => Promise<void>;
  readonly setTimeout: (after: () => void, ms: number) => unknown;
}

/**
 * Sends the current request whenever it changes, until the returned function is called. Sends one request at a time
 * unless the new request is urgent.
 */
export function requestOnChange<Request>({
  currentRequest,
  isSameRequest,
  isUrgent = () => false,
  send,
  setTimeout: scheduleTimeout,
}: RequestOptions<Request>): () => void {
  let lastRequest: Request | undefined;
  let isThrottled = false;
  let requestCount = 0;
  let isStopped = false;
  const requestIfChanged = () => {
    const nextRequest = currentRequest();
    if (
      isStopped ||
      nextRequest === undefined ||
      (lastRequest !== undefined && isSameRequest(nextRequest, lastRequest))
    )
      return;
    if (isThrottled && !(lastRequest !== undefined && isUrgent(nextRequest, lastRequest))) return;
    lastRequest = nextRequest;
    isThrottled = true;
    requestCount += 1;
    const requestId = requestCount;
    const minInterval = new Promise<void>((resolve) => void scheduleTimeout(resolve, MIN_INTERVAL_MS));
    void Promise.all([send(nextRequest), minInterval]).then(() => {
      if (requestId !== requestCount) return;
      isThrottled = false;
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
