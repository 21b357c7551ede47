import type { CallFault, OutsideCall } from '../../run/gate.ts';
import type { Invariant, Watched } from '../invariant.ts';
import { countContainers, isStarting, type MemoryUse, memoryUseOf } from '../resources/memoryUse.ts';

/** Crashing containers, probes and users have each had several turns by then. */
const SPAN_MS = 2 * 60_000;
/** Interval between two checks. */
const CHECK_INTERVAL_MS = 40_000;
/** Fluctuating data may reach a new maximum in a few consecutive spans, but hardly ever in this many. */
const SPANS = 8;

/**
 * A summary of the number of existing objects. Neither the identities nor the contents matter, because the required
 * memory does not depend on them.
 */
function summary({ actionLog, agent, agentNumber }: Watched): string {
  const manifests = [...actionLog.wanted.keys()].map((pod) => [pod, countContainers(actionLog.versionsOf(pod).at(-1))]);
  return JSON.stringify([agentNumber, agent?.pods().length, manifests]);
}

/** The maximum of a value, and the number of consecutive spans that have exceeded the previous maximum. */
interface Maximum {
  readonly most: number;
  readonly inARow: number;
}

/** Updates the maxima after a span. Values that have disappeared start over. */
const updateMaxima = (heights: ReadonlyMap<string, Maximum>, span: MemoryUse): ReadonlyMap<string, Maximum> =>
  new Map(
    Array.from(span, ([what, count]) => {
      const { most, inARow } = heights.get(what) ?? { most: count, inARow: 0 };
      return [what, { most: Math.max(most, count), inARow: count > most ? inARow + 1 : 0 }];
    }),
  );

/** The maxima of two checks. */
const most = (one: MemoryUse, other: MemoryUse): MemoryUse =>
  new Map([...one, ...Array.from(other, ([what, count]) => [what, Math.max(count, one.get(what) ?? 0)] as const)]);

export const steady: Invariant = {
  number: 9,
  description:
    'What the actors of a pod that lives on hold does not grow with how often it has restarted, was probed, or was changed.',
  follow: (watched, violated) => {
    let [there, lookAt, endsAt] = ['', 0, 0];
    let span: MemoryUse = new Map();
    let heights: ReadonlyMap<string, Maximum> = new Map();
    let heldUp = 0;
    const beginSpan = (elapsed: number) => {
      span = new Map();
      endsAt = elapsed + SPAN_MS;
    };
    const endSpan = (elapsed: number) => {
      heights = updateMaxima(heights, span);
      for (const [what, { most, inARow }] of heights)
        if (inARow === SPANS) violated(`${most} ${what}: more and more for as long as ${SPANS} spans of two minutes`);
      beginSpan(elapsed);
    };
    const whole = () => {
      const { elapsed } = watched.host.clock;
      // A cleanup may be waiting for a disk that hangs.
      if (heldUp === watched.agentNumber || elapsed < lookAt) return;
      if (watched.actionLog.wanted.size === 0 || isStarting(watched)) return;
      lookAt = elapsed + CHECK_INTERVAL_MS;
      const [now, before] = [summary(watched), there];
      const taken = memoryUseOf(watched);
      if (taken === undefined) return;
      there = now;
      if (now !== before) {
        heights = new Map();
        return beginSpan(elapsed);
      }
      span = most(span, taken);
      if (elapsed >= endsAt) endSpan(elapsed);
    };
    const onCall = ({ target }: OutsideCall, fault?: CallFault) => {
      if (target === 'disk' && fault?.kind === 'hang') heldUp = watched.agentNumber;
    };
    return { whole, onCall };
  },
};
