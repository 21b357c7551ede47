import type { TimerClock } from '../../base/time/clock.ts';
import type { CallName } from './faults/callNames.ts';
import type { GetLatency } from './faults/latency.ts';
import type { EventStreams } from './objects/events.ts';
import type { RuntimeEffect } from './objects/views.ts';

/** State and services that the components of the runtime share. */
export interface RuntimeContext {
  readonly clock: TimerClock;
  readonly events: EventStreams;
  /** Called on every change to containers and sandboxes. */
  readonly onEffect: ((effect: RuntimeEffect) => void) | undefined;
  /** Returns a new ID of 64 hex digits. */
  readonly generateId: () => string;
  readonly generatePid: () => number;
  /** Whether stopping a missing object fails with NOT_FOUND. */
  readonly rejectsAbsentStops: boolean;
  /** Whether containers report the user of their process. This is the feature `supplementalGroupsPolicy`. */
  readonly reportsContainerUsers: boolean;
  /** Names of the runtime handlers. If undefined, any name is accepted. */
  readonly runtimeHandlers: readonly string[] | undefined;
  readonly getLatency: GetLatency;
  /**
   * Waits for the duration of a call, which defaults to the result of `getLatency`. Rejects if the call is cancelled.
   */
  readonly simulateWork: (call: CallName, signal: AbortSignal, ms?: number) => Promise<void>;
}
