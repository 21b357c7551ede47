/**
 * Tracks OOM kills on the node, and whether the kernel log, from which they are read, is readable. Implemented as a
 * pure reducer.
 */
import type { Failure } from '../../../base/failure.ts';
import { type EventMessage, warning } from '../../../kubernetes/events/recordedEvent.ts';
import { isSystemOom, killedProcess, type OomKill, systemOomMessage } from '../../../kubernetes/lifecycle/oomKill.ts';
import type { FeedView } from '../../../show/actors/actorNode.ts';
import type { NodeFact } from '../../shared/events/events.ts';

export interface OomWatch {
  /** Time at which this state was entered, in milliseconds since the epoch. */
  readonly since: number;
  /** Reason why the kernel log cannot be read. Undefined if it can be read. */
  readonly failure?: Failure;
  /** Number of processes that were killed because the whole system was out of memory, since the start of the agent. */
  readonly systemKillCount: number;
  readonly lastSystemKill?: OomKill;
}

export type OomFact = Extract<NodeFact, { type: 'node.oomKilled' | 'node.oomWatchChanged' }>;

/** Returns the state after a kill, or after the log has become readable or unreadable. */
export function nextOomWatch(previous: OomWatch | undefined, fact: OomFact): OomWatch {
  if (fact.type === 'node.oomKilled') {
    const watch = previous ?? { since: fact.kill.at, systemKillCount: 0 };
    if (!isSystemOom(fact.kill)) return watch;
    return { ...watch, systemKillCount: watch.systemKillCount + 1, lastSystemKill: fact.kill };
  }
  const { failure: _, ...watch } = previous ?? { since: fact.at, systemKillCount: 0 };
  return { ...watch, since: fact.at, ...(fact.failure ? { failure: fact.failure } : {}) };
}

/**
 * Returns the `SystemOOM` event for a process that was killed because the whole system was out of memory. Returns no
 * event for other kills.
 */
export const systemOomEvents = (kill: OomKill): readonly EventMessage[] =>
  isSystemOom(kill) ? [warning('SystemOOM', systemOomMessage(kill))] : [];

/** Returns the OOM watch as a feed in the actor tree, or an empty list if the node does not detect OOM kills. */
export function oomWatchViews(watch: OomWatch | undefined): FeedView[] {
  if (watch === undefined) return [];
  const { since, failure, systemKillCount, lastSystemKill } = watch;
  const killCount = `${systemKillCount} system OOM ${systemKillCount === 1 ? 'kill' : 'kills'}`;
  const facts = lastSystemKill === undefined ? [] : [`${killCount}, last ${killedProcess(lastSystemKill)}`];
  const own = { name: 'oomWatcher', path: 'oomWatcher', since, facts };
  if (failure === undefined) return [{ ...own, state: 'watching', tags: ['steady'] }];
  const waitingFor = "the kernel's log to be readable, retried every 10s";
  return [{ ...own, state: 'failing', tags: ['retrying'], waitingFor, lastFailure: failure }];
}
