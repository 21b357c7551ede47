/** Creates the feeds for logind's shutdown signals and for the inhibitor lock that delays a shutdown. */
import type { Clock } from '../../base/time/clock.ts';
import type { Logind } from '../../host/logind/logind.ts';
import type { FactFeed, NodeEnvironment } from '../boundary.ts';
import { createLogindFailure } from '../services/shutdown/shutdownServices.ts';

interface LogindFeedDependencies {
  /** Undefined if the node does not monitor shutdowns of its host. */
  readonly logind?: Logind | undefined;
  readonly clock: Clock;
}

/** Creates the feeds. They end when the connection to logind is lost. */
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
