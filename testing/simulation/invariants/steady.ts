import type { Fate, OutsideCall } from '../run/outside.ts';
import type { Invariant, Watched } from './invariant.ts';
import { isBeginning, placesIn, type Taken, takenBy } from './taken.ts';

/** Crashing containers, probes and users have each had several turns by then. */
const SPAN_MS = 2 * 60_000;
/** Interval between two checks. */
const LOOKS_EVERY_MS = 40_000;
/** Fluctuating data may reach a new maximum in a few consecutive spans, but hardly ever in this many. */
const SPANS = 8;

/**
 * A summary of the number of existing objects. Neither the identities nor the contents matter, because the required
 * memory does not depend on them.
 */
function existing({ deeds, agent, life }: Watched): string {
  const manifests = [...deeds.wanted.keys()].map((pod) => [pod, placesIn(deeds.versionsOf(pod).at(-1))]);
  return JSON.stringify([life, agent?.pods().length, manifests]);
}

/** The maximum of a value, and the number of consecutive spans that have exceeded the previous maximum. */
interface Height {
  readonly most: number;
  readonly inARow: number;
}

/** Updates the maxima after a span. Values that have disappeared start over. */
const raised = (heights: ReadonlyMap<string, Height>, span: Taken): ReadonlyMap<string, Height> =>
  new Map(
    Array.from(span, ([what, count]) => {
      const { most, inARow } = heights.get(what) ?? { most: count, inARow: 0 };
      return [what, { most: Math.max(most, count), inARow: count > most ? inARow + 1 : 0 }];
    }),
  );

/** The maxima of two checks. */
const most = (one: Taken, other: Taken): Taken =>
  new Map([...one, ...Array.from(other, ([what, count]) => [what, Math.max(count, one.get(what) ?? 0)] as const)]);

export const steady: Invariant = {
  number: 9,
  says: 'What the actors of a pod that lives on hold does not grow with how often it has restarted, was probed, or was changed.',
  follow: (watched, violated) => {
    let [there, lookAt, endsAt] = ['', 0, 0];
    let span: Taken = new Map();
    let heights: ReadonlyMap<string, Height> = new Map();
    let heldUp = 0;
    const beginSpan = (elapsed: number) => {
      span = new Map();
      endsAt = elapsed + SPAN_MS;
    };
    const endSpan = (elapsed: number) => {
      heights = raised(heights, span);
      for (const [what, { most, inARow }] of heights)
        if (inARow === SPANS) violated(`${most} ${what}: more and more for as long as ${SPANS} spans of two minutes`);
      beginSpan(elapsed);
    };
    const whole = () => {
      const { elapsed } = watched.host.clock;
      // A cleanup may be waiting for a disk that hangs.
      if (heldUp === watched.life || elapsed < lookAt) return;
      if (watched.deeds.wanted.size === 0 || isBeginning(watched)) return;
      lookAt = elapsed + LOOKS_EVERY_MS;
      const [now, before] = [existing(watched), there];
      const taken = takenBy(watched);
      if (taken === undefined) return;
      there = now;
      if (now !== before) {
        heights = new Map();
        return beginSpan(elapsed);
      }
      span = most(span, taken);
      if (elapsed >= endsAt) endSpan(elapsed);
    };
    const onCall = ({ room }: OutsideCall, fate?: Fate) => {
      if (room === 'disk' && fate?.kind === 'hang') heldUp = watched.life;
    };
    return { whole, onCall };
  },
};
