import type { CallName } from './callNames.ts';
import type { Clock } from './clock.ts';
import type { EventStreams } from './events.ts';
import type { LatencyOf } from './latency.ts';
import type { RuntimeEffect } from './views.ts';

/** What the runtime's parts share. */
export interface World {
  readonly clock: Clock;
  readonly events: EventStreams;
  /** Who hears of each effect. */
  readonly onEffect: ((effect: RuntimeEffect) => void) | undefined;
  /** A fresh id: 64 hex digits. */
  readonly newId: () => string;
  readonly newPid: () => number;
  /** Whether stopping what does not exist fails. */
  readonly absentStopsFail: boolean;
  /** The names of its runtime handlers; absent: any name will do. */
  readonly handlers: readonly string[] | undefined;
  readonly latencyOf: LatencyOf;
  /** The time that a call takes, drawn if it is not given; rejects when the call is ended meanwhile. */
  readonly work: (call: CallName, signal: AbortSignal, ms?: number) => Promise<void>;
}
