/**
 * Caches the time range of a recording in progress and refreshes it in the background, so that the page never waits for
 * it.
 */
import type { Clock } from '../../../base/time/clock.ts';
import type { LiveUpdates } from '../../inspected.ts';
import type { Snapshot } from '../../protocol.ts';
import type { Past } from '../past.ts';

interface RecordedSpanOptions {
  readonly past: Pick<Past, 'recorded'>;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
}

/**
 * Interval at which the start of the recording is read again. The start changes when the recorder deletes old files.
 */
const REFRESH_INTERVAL_MS = 300_000;

/**
 * The time range of a recording in progress. Its start is cached and refreshed regularly, and its end is the current
 * time.
 */
export class RecordedSpan {
  readonly #options: RecordedSpanOptions;
  #from: number;
  #refreshAt = 0;

  /** Starts reading the recording. Until its start is known, the recording is assumed to start now. */
  constructor(options: RecordedSpanOptions) {
    this.#options = options;
    this.#from = options.clock.now();
    this.now();
  }

  now(): NonNullable<Snapshot['recorded']> {
    const { clock } = this.#options;
    if (clock.monotonic() >= this.#refreshAt) this.#refresh();
    return { from: this.#from, to: Math.max(this.#from, clock.now()) };
  }

  /** Wraps a live node so that each frame includes the recorded time range if its start has changed. */
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
      // Retain the previous value if the recording cannot be read.
      () => {},
    );
  }
}
