import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { messageOf } from '../../base/failure.ts';
import { type Clock, startInterval } from '../../base/time/clock.ts';
import { isMissing } from '../../host/files/fileErrors.ts';
import type { EventMessage } from '../../kubernetes/events/recordedEvent.ts';
import type { LostRoot } from '../../show/explain/explainNode.ts';

const CHECK_INTERVAL_MS = 10_000;

export interface RootWatch {
  /** Returns why the directory is unusable, or undefined while it is usable. */
  readonly findLostRoot: () => LostRoot | undefined;
  readonly stop: () => void;
}

interface RootWatchDependencies {
  readonly rootDirectory: string;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'info'>;
  /** Publishes an event about the node. */
  readonly publish: (message: EventMessage) => void;
  /** Returns why a directory is unusable, or undefined if it is usable. */
  readonly findProblem?: (directory: string) => Promise<string | undefined>;
}

/**
 * Checks every 10 s whether the directory in which the agent stores its state is usable. Without these checks, the node
 * would detect a problem only at its next write, which may be minutes away. Publishes an event when the directory
 * becomes unusable, and logs when it has become usable again.
 */
export function watchRoot({
  rootDirectory,
  clock,
  logger,
  publish,
  findProblem = checkDirectory,
}: RootWatchDependencies): RootWatch {
  const directory = join(rootDirectory, 'statelet');
  let lostRoot: Omit<LostRoot, 'retryAt'> | undefined;
  let lastCheckAt = clock.now();
  /**
   * Whether a check is running. Only one runs at a time, because checks that hang on an unresponsive disk would use up
   * the threads for file I/O.
   */
  let isCheckRunning = false;
  let wasStopped = false;
  const checkRoot = async () => {
    if (isCheckRunning) return;
    isCheckRunning = true;
    lastCheckAt = clock.now();
    const problem = await findProblem(directory);
    isCheckRunning = false;
    if (wasStopped || (problem === undefined) === (lostRoot === undefined)) return;
    lostRoot =
      problem === undefined ? undefined : { message: formatLostMessage(directory, problem), since: clock.now() };
    if (lostRoot === undefined) logger.info(`${directory} is usable again`);
    else publish({ eventType: 'Warning', reason: 'RootDirectoryUnusable', message: lostRoot.message });
  };
  const stopTimer = startInterval(clock, CHECK_INTERVAL_MS, checkRoot);
  return {
    findLostRoot: () => lostRoot && { ...lostRoot, retryAt: lastCheckAt + CHECK_INTERVAL_MS },
    stop: () => {
      wasStopped = true;
      stopTimer();
    },
  };
}

async function checkDirectory(directory: string): Promise<string | undefined> {
  try {
    return (await stat(directory)).isDirectory() ? undefined : 'is no longer a directory';
  } catch (error) {
    return isMissing(error) ? 'has been removed' : `cannot be used: ${messageOf(error)}`;
  }
}

const formatLostMessage = (directory: string, problem: string): string =>
  `${directory} ${problem} while the agent is running: state that must survive a restart of the agent cannot be saved. The pods keep running; restart the agent once the directory is usable again`;
