/** Notices when the root directory is taken from an agent that runs. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { type Clock, every } from '../../base/clock.ts';
import { messageOf } from '../../base/failure.ts';
import { isMissing } from '../../host/files/fileErrors.ts';
import type { EventMessage } from '../../kubernetes/events/recordedEvent.ts';
import type { LostRoot } from '../../show/explain/explainNode.ts';

const LOOK_MS = 10_000;

export interface RootWatch {
  /** Why the directory cannot be used, while it cannot. */
  readonly lost: () => LostRoot | undefined;
  readonly end: () => void;
}

/**
 * Looks every 10 s for the directory of the durable facts: what is written there fails only when something is to be
 * written, and may be minutes away. It tells once when the directory has gone, and once when it is back.
 */
export function watchRoot(given: {
  readonly rootDirectory: string;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'info'>;
  /** Told what happened to the node, which the log has, too. */
  readonly tell: (note: EventMessage) => void;
  /** Says why a directory cannot be used; undefined when it can. */
  readonly ask?: (directory: string) => Promise<string | undefined>;
}): RootWatch {
  const { rootDirectory, clock, logger, tell, ask = problemOf } = given;
  const directory = join(rootDirectory, 'statelet');
  let lost: Omit<LostRoot, 'retryAt'> | undefined;
  let lookedAt = clock.now();
  /** One look at a time: those that hang with the disk would take the threads of all other work on files. */
  let isLooking = false;
  let hasEnded = false;
  const look = async () => {
    if (isLooking) return;
    isLooking = true;
    lookedAt = clock.now();
    const why = await ask(directory);
    isLooking = false;
    if (hasEnded || (why === undefined) === (lost === undefined)) return;
    lost = why === undefined ? undefined : { message: lostText(directory, why), since: clock.now() };
    if (lost === undefined) logger.info(`${directory} is usable again`);
    else tell({ eventType: 'Warning', reason: 'RootDirectoryUnusable', message: lost.message });
  };
  const stop = every(clock, LOOK_MS, look);
  const end = () => {
    hasEnded = true;
    stop();
  };
  return { lost: () => lost && { ...lost, retryAt: lookedAt + LOOK_MS }, end };
}

async function problemOf(directory: string): Promise<string | undefined> {
  try {
    return (await stat(directory)).isDirectory() ? undefined : 'is no longer a directory';
  } catch (error) {
    return isMissing(error) ? 'has been removed' : `cannot be used: ${messageOf(error)}`;
  }
}

const lostText = (directory: string, why: string): string =>
  `${directory} ${why} while the agent is running: state that must survive a restart of the agent cannot be saved. The pods keep running; restart the agent once the directory is usable again`;
