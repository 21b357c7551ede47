/** What a node goes on without until it can be had. */
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/failure.ts';

interface Options<T> {
  readonly make: () => Promise<T>;
  readonly clock: Clock;
  readonly onMade: (made: T) => void;
  /** Told why it cannot be had, once until that changes. */
  readonly onProblem: (why: string) => void;
}

/** Another process may have the address for a while: a kubelet waits as long (`startKubelet` of `cmd/kubelet`). */
export const RETRY_MS = 5_000;

/** Makes it, or tries to until it can; `close` ends both. */
export function keptTrying<T extends { close(): Promise<void> }>({
  make,
  clock,
  onMade,
  onProblem,
}: Options<T>): {
  close(): Promise<void>;
} {
  let made: Promise<T | undefined> = Promise.resolve(undefined);
  let timer: unknown;
  let isClosed = false;
  let told = '';
  const attempt = async (): Promise<T | undefined> => {
    try {
      const found = await make();
      if (!isClosed) onMade(found);
      return found;
    } catch (error) {
      const why = messageOf(error);
      if (why !== told) onProblem(why);
      told = why;
      if (!isClosed) timer = clock.setTimeout(begin, RETRY_MS);
      return undefined;
    }
  };
  const begin = () => {
    made = attempt();
  };
  begin();
  return {
    close: async () => {
      isClosed = true;
      clock.clearTimeout(timer);
      await (await made)?.close();
    },
  };
}
