import { messageOf } from '../../base/failure.ts';
import type { Clock } from '../../base/time/clock.ts';

interface RetryOptions<T> {
  readonly startService: () => Promise<T>;
  readonly clock: Clock;
  readonly onStarted: (service: T) => void;
  /** Called with the reason why an attempt failed, unless the previous attempt failed for the same reason. */
  readonly onProblem: (why: string) => void;
}

/**
 * Interval in milliseconds between two attempts, as in `startKubelet` of `cmd/kubelet`. An attempt may fail because
 * another process is temporarily using the service's address.
 */
export const RETRY_MS = 5_000;

/** Starts an optional service, and retries every 5 s if the start fails. `close` stops the service or the retries. */
export function retryUntilStarted<T extends { close(): Promise<void> }>({
  startService,
  clock,
  onStarted,
  onProblem,
}: RetryOptions<T>): {
  close(): Promise<void>;
} {
  let service: Promise<T | undefined> = Promise.resolve(undefined);
  let timer: unknown;
  let isClosed = false;
  let lastProblem = '';
  const tryOnce = async (): Promise<T | undefined> => {
    try {
      const startedService = await startService();
      if (!isClosed) onStarted(startedService);
      return startedService;
    } catch (error) {
      const problem = messageOf(error);
      if (problem !== lastProblem) onProblem(problem);
      lastProblem = problem;
      if (!isClosed) timer = clock.setTimeout(attemptStart, RETRY_MS);
      return undefined;
    }
  };
  const attemptStart = () => {
    service = tryOnce();
  };
  attemptStart();
  return {
    close: async () => {
      isClosed = true;
      clock.clearTimeout(timer);
      await (await service)?.close();
    },
  };
}
