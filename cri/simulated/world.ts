import type { CallName } from './callNames.ts';
import type { Clock } from './clock.ts';
import type { EventStreams } from './events.ts';
import type { Latencies } from './latency.ts';

/** What the runtime's parts share. */
export interface World {
  readonly clock: Clock;
  readonly events: EventStreams;
  /** A fresh id: 64 hex digits. */
  readonly newId: () => string;
  /** Whether stopping what does not exist fails. */
  readonly absentStopsFail: boolean;
  readonly latencies: Latencies;
  /** The time that a call takes; rejects when the call is ended meanwhile. */
  readonly work: (call: CallName, signal: AbortSignal) => Promise<void>;
}
