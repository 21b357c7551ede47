/**
 * Caches the time range of a recording in progress and refreshes it in the background, so the page never waits for it.
 */
import type { Clock } from '../../base/clock.ts';
import type { LiveUpdates } from '../inspected.ts';
import type { Snapshot } from '../protocol.ts';
import type { Past } from './past.ts';

interface RecordedSpanOptions {
  readonly past: Pick<Past, 'recorded'>;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
}

/**
 * Interval at which the start of the recording is read again, because it changes when the recorder deletes old files.
 */
const REFRESH_INTERVAL_MS = 300_000;

/** The time range of the recording. Caches the start and reads it again from time to time. */
export class RecordedSpan {
  readonly #options: RecordedSpanOptions;
  #from: number;
  #refreshAt = 0;

  /** Starts refreshing. Until the recording has been read, its start is assumed to be the current time. */
  constructor(parts: RecordedSpanOptions) {
    this.#options = parts;
    this.#from = parts.clock.now();
    this.now();
  }

  now(): NonNullable<Snapshot['recorded']> {
    const { clock } = this.#options;
    if (clock.monotonic() >= this.#refreshAt) this.#refresh();
    return { from: this.#from, to: Math.max(this.#from, clock.now()) };
  }

  /** Wraps a live node so that a frame includes the recorded range whenever its start has changed. */
  addTo(live: LiveUpdates): LiveUpdates {
    return {
      snapshot: () => live.snapshot(),
      follow: (viewer) => {
        let { from } = this.now();
        return live.follow((frame) => {
          const recordedRange = this.now();
          viewer(recordedRange.from === from ? frame : { ...frame, recorded: recordedRange });
          from = recordedRange.from;
        });
      },
    };
  }

  #refresh(): void {
    const { past, clock } = this.#options;
    this.#refreshAt = clock.monotonic() + REFRESH_INTERVAL_MS;
    past.recorded().then(
      (recorded) => {
        if (recorded) this.#from = recorded.from;
      },
      // On failure, retain the previous value.
      () => {},
    );
  }
}
