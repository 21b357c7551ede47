import type { Fate, OutsideCall } from '../run/outside.ts';
import type { Invariant, Watched } from './invariant.ts';
import { isBeginning, placesIn, type Taken, takenBy } from './taken.ts';

/** A container that crashes, a probe and whoever edits a manifest have each had several turns by then. */
const SPAN_MS = 2 * 60_000;
/** How often it is looked at meanwhile: what is under way at the same moment differs from one look to the next. */
const LOOKS_EVERY_MS = 40_000;
/**
 * What only goes up and down may reach a new height in some spans one after the other; hardly ever in so many, and the
 * less so the more it was seen before.
 */
const SPANS = 8;

/**
 * How much there is: neither which pods, as another label may make another pod of a manifest, nor what is written in
 * them. While it stays the same there is nothing to take up more for.
 */
function existing({ deeds, agent, life }: Watched): string {
  const manifests = [...deeds.wanted.keys()].map((pod) => [pod, placesIn(deeds.versionsOf(pod).at(-1))]);
  return JSON.stringify([life, agent?.pods().length, manifests]);
}

/** The highest that was seen of something, and how many spans in a row have each come to more than all before. */
interface Height {
  readonly most: number;
  readonly inARow: number;
}

/** The heights of what there is at all after one more span: what is gone begins anew. */
const raised = (heights: ReadonlyMap<string, Height>, span: Taken): ReadonlyMap<string, Height> =>
  new Map(
    Array.from(span, ([what, count]) => {
      const { most, inARow } = heights.get(what) ?? { most: count, inARow: 0 };
      return [what, { most: Math.max(most, count), inARow: count > most ? inARow + 1 : 0 }];
    }),
  );

/** The most of two looks of each thing. */
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
      // Whoever clears up may wait for a disk that hangs.
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
