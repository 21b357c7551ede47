/** Polls all actors of an agent, and reconnects when the connection is lost. */

import { messageOf } from '../../../../base/failure.ts';
import type { Clock } from '../../../../base/time/clock.ts';
import type { ActorsResponse } from '../../get/readActors.ts';

/** The polled actors. While the connection is lost, these are the actors of the last successful poll. */
export interface ActorsSnapshot {
  readonly actors: ActorsResponse;
  readonly lostConnection?: LostConnection;
}

interface LostConnection {
  /** Time at which the connection was lost, in milliseconds since the epoch, by the clock of this process. */
  readonly since: number;
  readonly retryAt: number;
  readonly reason: string;
}

interface PollingOptions {
  readonly fetchActors: () => Promise<ActorsResponse>;
  readonly onSnapshot: (snapshot: ActorsSnapshot) => void;
  readonly clock: Clock;
}

/** Delay between the end of a poll and the start of the next one, in milliseconds. */
const POLL_INTERVAL_MS = 1_000;
const RETRY_INTERVAL_MS = 2_000;

/**
 * Polls until the returned function is called. `first` is the result of the first poll, which the caller has already
 * performed.
 */
export function pollActors(first: ActorsResponse, { fetchActors, onSnapshot, clock }: PollingOptions): () => void {
  let lastSnapshot: ActorsSnapshot = { actors: first };
  let timer: unknown;
  let isStopped = false;
  const publish = (snapshot: ActorsSnapshot) => {
    lastSnapshot = snapshot;
    if (!isStopped) onSnapshot(snapshot);
  };
  const poll = async () => {
    try {
      publish({ actors: await fetchActors() });
    } catch (error) {
      const now = clock.now();
      const lostConnection = {
        since: lastSnapshot.lostConnection?.since ?? now,
        retryAt: now + RETRY_INTERVAL_MS,
        reason: messageOf(error),
      };
      publish({ actors: lastSnapshot.actors, lostConnection });
    }
    scheduleNext();
  };
  const scheduleNext = () => {
    if (!isStopped)
      timer = clock.setTimeout(() => void poll(), lastSnapshot.lostConnection ? RETRY_INTERVAL_MS : POLL_INTERVAL_MS);
  };
  scheduleNext();
  return () => {
    isStopped = true;
    clock.clearTimeout(timer);
  };
}
