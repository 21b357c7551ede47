/** What can be gone back to of a node that goes on: looked up behind the page, which waits for it nowhere. */
import type { Clock } from '../base/clock.ts';
import type { Live } from './inspected.ts';
import type { Past } from './past.ts';
import type { Snapshot } from './protocol.ts';

interface SpanParts {
  readonly past: Pick<Past, 'recorded'>;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
}

/** The oldest is thrown away now and then: after so long it is looked up again. */
const GOOD_MS = 300_000;

/** From when on there is a recording, as far as is known. */
export class RecordedSpan {
  readonly #parts: SpanParts;
  #from: number;
  #askAgainAt = 0;

  /** Until more is known it is the time from now on: that is recorded in any case. */
  constructor(parts: SpanParts) {
    this.#parts = parts;
    this.#from = parts.clock.now();
    this.now();
  }

  now(): NonNullable<Snapshot['recorded']> {
    const { clock } = this.#parts;
    if (clock.monotonic() >= this.#askAgainAt) this.#ask();
    return { from: this.#from, to: Math.max(this.#from, clock.now()) };
  }

  /** The same node, whose frames say from when on it is recorded once that is known, or has changed. */
  toldBy(live: Live): Live {
    return {
      snapshot: () => live.snapshot(),
      follow: (viewer) => {
        let { from } = this.now();
        return live.follow((frame) => {
          const recorded = this.now();
          viewer(recorded.from === from ? frame : { ...frame, recorded });
          from = recorded.from;
        });
      },
    };
  }

  #ask(): void {
    const { past, clock } = this.#parts;
    this.#askAgainAt = clock.monotonic() + GOOD_MS;
    past.recorded().then(
      (recorded) => {
        if (recorded) this.#from = recorded.from;
      },
      // What is known stays.
      () => {},
    );
  }
}
