import type { CallFault, OutsideCall } from '../../run/gate.ts';
import type { Invariant, Watched } from '../invariant.ts';
import { countContainers, isStarting, type MemoryUse, memoryUseOf } from '../resources/memoryUse.ts';

/** Length of a span in milliseconds. Crashing containers, probes and users each act several times in a span. */
const SPAN_MS = 2 * 60_000;
/** Interval between two checks, in milliseconds. */
const CHECK_INTERVAL_MS = 40_000;
/**
 * Number of consecutive spans with a new maximum that count as growth. Fluctuating data may reach a new maximum in a
 * few consecutive spans, but hardly ever in this many.
 */
const SPANS = 8;

/**
 * Returns a summary of the number of existing objects. Neither their identities nor their contents matter, because the
 * required memory does not depend on them.
 */
function summary({ actionLog, agent, agentNumber }: Watched): string {
  const manifests = [...actionLog.wanted.keys()].map((pod) => [pod, countContainers(actionLog.versionsOf(pod).at(-1))]);
  return JSON.stringify([agentNumber, agent?.pods().length, manifests]);
}

/** Maximum of a value, and the number of consecutive spans that have exceeded the previous maximum. */
interface Maximum {
  readonly most: number;
  readonly inARow: number;
}

/** Returns the maxima after a span. A value that has disappeared starts over. */
const updateMaxima = (maxima: ReadonlyMap<string, Maximum>, span: MemoryUse): ReadonlyMap<string, Maximum> =>
  new Map(
    Array.from(span, ([kind, count]) => {
      const { most, inARow } = maxima.get(kind) ?? { most: count, inARow: 0 };
      return [kind, { most: Math.max(most, count), inARow: count > most ? inARow + 1 : 0 }];
    }),
  );

/** Returns the larger count of each kind of data. */
const most = (one: MemoryUse, other: MemoryUse): MemoryUse =>
  new Map([...one, ...Array.from(other, ([kind, count]) => [kind, Math.max(count, one.get(kind) ?? 0)] as const)]);

export const steady: Invariant = {
  number: 9,
  description:
    'The data of the actors of a long-lived pod does not grow with the number of its restarts, probes or changes.',
  follow: (watched, violated) => {
    let [lastSummary, nextCheckAt, endsAt] = ['', 0, 0];
    let span: MemoryUse = new Map();
    let maxima: ReadonlyMap<string, Maximum> = new Map();
    let delayedAgent = 0;
    const beginSpan = (elapsed: number) => {
      span = new Map();
      endsAt = elapsed + SPAN_MS;
    };
    const endSpan = (elapsed: number) => {
      maxima = updateMaxima(maxima, span);
      for (const [kind, { most, inARow }] of maxima)
        if (inARow === SPANS) violated(`${most} ${kind}: an increase in each of ${SPANS} spans of two minutes`);
      beginSpan(elapsed);
    };
    const whole = () => {
      const { elapsed } = watched.host.clock;
      // A cleanup may still be waiting for a disk call that hangs.
      if (delayedAgent === watched.agentNumber || elapsed < nextCheckAt) return;
      if (watched.actionLog.wanted.size === 0 || isStarting(watched)) return;
      nextCheckAt = elapsed + CHECK_INTERVAL_MS;
      const [now, before] = [summary(watched), lastSummary];
      const memoryUse = memoryUseOf(watched);
      if (memoryUse === undefined) return;
      lastSummary = now;
      if (now !== before) {
        maxima = new Map();
        return beginSpan(elapsed);
      }
      span = most(span, memoryUse);
      if (elapsed >= endsAt) endSpan(elapsed);
    };
    const onCall = ({ target }: OutsideCall, fault?: CallFault) => {
      if (target === 'disk' && fault?.kind === 'hang') delayedAgent = watched.agentNumber;
    };
    return { whole, onCall };
  },
};
