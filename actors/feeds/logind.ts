/** Creates the feeds of logind: its signals about a shutdown, and the lock that delays one. */
import type { Clock } from '../../base/time/clock.ts';
import type { Logind } from '../../host/logind/logind.ts';
import type { FactFeed, NodeEnvironment } from '../boundary.ts';
import { createLogindFailure } from '../services/shutdown/shutdownServices.ts';

interface LogindFeedDependencies {
  /** Undefined if the node does not follow the shutdown of its host. */
  readonly logind?: Logind | undefined;
  readonly clock: Clock;
}

/** Creates the feeds, which end when logind is lost. */
export function createLogindFeeds({
  logind,
  clock,
}: LogindFeedDependencies): Pick<NodeEnvironment['feeds'], 'shutdownSignals' | 'shutdownLock'> {
  const untilLost = async (connection: Promise<void> | undefined) => {
    await connection?.catch((cause: unknown) => {
      throw createLogindFailure(cause);
    });
  };
  const shutdownSignals: FactFeed = (send, { signal }) =>
    untilLost(
      logind?.watchShutdown({
        signal,
        onWatching: () => send({ type: 'logind.watched', at: clock.now() }),
        onChange: (isShuttingDown) => send({ type: 'logind.shutdownChanged', isShuttingDown, at: clock.now() }),
      }),
    );
  const shutdownLock: FactFeed = (send, { signal }) =>
    untilLost(logind?.holdLock({ signal, onLocked: () => send({ type: 'logind.locked', at: clock.now() }) }));
  return { shutdownSignals, shutdownLock };
}
