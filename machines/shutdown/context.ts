/** Defines the context of the shutdown machine and pure functions on it. The chart is in chart.ts. */
import type { Failure } from '../../base/failure.ts';
import {
  groupPods,
  type ShutdownGroup,
  type ShutdownPeriod,
  totalPeriodMs,
} from '../../kubernetes/shutdown/periods.ts';
import type { ShutdownEvent } from '../shared/events/shutdownEvents.ts';

/** Times of the last shutdown, in milliseconds since the epoch. `endedAt` is undefined while pods terminate. */
export type ShutdownTimes = {
  readonly startedAt: number;
  readonly endedAt?: number;
};

/**
 * Settings for graceful node shutdown. A type alias rather than an interface, because generated declaration files can
 * inline an alias but can refer to an interface only by name.
 */
export type ShutdownInput = {
  readonly nodeName: string;
  /** The grace periods by pod priority, in ascending order of priority. */
  readonly periods: readonly ShutdownPeriod[];
  /** The last shutdown, which an earlier run of the agent handled. Undefined if there was none. */
  readonly lastShutdown?: ShutdownTimes | undefined;
};

export type ShutdownContext = ShutdownInput & {
  /** Number of times that the delay has been read since it was raised. 0 if it was not raised. */
  readonly pollCount: number;
  /** Maximum delay of a shutdown in milliseconds, as reported by logind. Undefined until it is known. */
  readonly delayMs: number | undefined;
  /** Whether the node has ever held the lock. */
  readonly hasLocked: boolean;
  readonly isShuttingDown: boolean;
  /** Whether the connection to logind was lost while pods were terminating. */
  readonly hasLostLogind: boolean;
  /** Groups that have yet to terminate. The first one is terminating or is the next one to terminate. */
  readonly groups: readonly ShutdownGroup[];
  readonly cleanedUpUids: readonly string[];
  /** Time at which the first of `groups` started to terminate, in milliseconds since the epoch. */
  readonly groupStartedAt: number;
  readonly failure?: Failure | undefined;
};

export const initialShutdownContext = (input: ShutdownInput): ShutdownContext => ({
  ...input,
  pollCount: 0,
  delayMs: undefined,
  hasLocked: false,
  isShuttingDown: false,
  hasLostLogind: false,
  groups: [],
  cleanedUpUids: [],
  groupStartedAt: 0,
});

/** Maximum number of times that the delay is read after it has been raised. */
export const MAX_POLLS = 5;
/** Time in milliseconds between the first two reads. It doubles after each read. */
const FIRST_POLL_INTERVAL_MS = 100;

export const pollIntervalMs = ({ pollCount }: ShutdownContext): number => FIRST_POLL_INTERVAL_MS * 2 ** (pollCount - 1);

export const requiredDelayMs = ({ periods }: Pick<ShutdownContext, 'periods'>): number => totalPeriodMs(periods);

/** Returns the changes to the context when pods start to terminate. */
export const startedTermination = (
  { periods }: ShutdownContext,
  { pods }: Extract<ShutdownEvent, { type: 'shutdown.podsListed' }>,
): Partial<ShutdownContext> => ({ groups: groupPods(periods, pods), cleanedUpUids: [] });

/** Returns the time limit of the current group in milliseconds. */
export const groupLimitMs = ({ groups: [group] }: ShutdownContext): number => (group?.graceSeconds ?? 0) * 1_000;

export const isGroupCleanedUp = ({ groups: [group], cleanedUpUids }: ShutdownContext): boolean =>
  group === undefined || group.uids.every((uid) => cleanedUpUids.includes(uid));
