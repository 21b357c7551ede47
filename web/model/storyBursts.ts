/**
 * Groups the steps of an actor into bursts. A burst is one run of a container or, for other actors, a series of steps
 * with short gaps.
 */
import type { Step } from './storySteps.ts';
import { isWithin, kindOf } from './storyWho.ts';

/** A group of consecutive steps that are displayed together. */
export interface Burst {
  /** E.g. `Run 6` or `Start`. */
  readonly title: string;
  /** Number of the container's run, starting at 1. Undefined for other actors. */
  readonly run?: number;
  readonly from: number;
  readonly to: number;
  readonly steps: readonly Step[];
}

/** A longer gap between two steps starts a new burst. */
const GAP_MS = 10_000;

/** Returns the bursts of an actor and its descendants in chronological order. */
export const burstsOf = (steps: readonly Step[], subject: string): Burst[] => growingBursts()(steps, subject);

/** Number of the latest steps that may still change, so their relevance is not cached. */
const UNSETTLED = 100;

/**
 * Creates a function that groups a growing list of steps. It caches which steps concern the subject, except for the
 * latest ones.
 */
export function growingBursts(): (steps: readonly Step[], subject: string) => Burst[] {
  let last = '';
  let known = new WeakMap<Step, boolean>();
  return (steps, subject) => {
    if (subject !== last) known = new WeakMap();
    last = subject;
    const settled = steps.length - UNSETTLED;
    const own = steps.filter((step, index) => {
      const is = known.get(step) ?? concerns(step, subject);
      if (index < settled) known.set(step, is);
      return is;
    });
    return cutInto(own, subject);
  };
}

function cutInto(own: readonly Step[], subject: string): Burst[] {
  const cuts = kindOf(subject) === 'container' ? runCuts(own, subject) : gapCuts(own, subject);
  return cuts.flatMap(({ begin, ...cut }, index) => {
    const part = own.slice(begin, cuts[index + 1]?.begin);
    const [first] = part;
    const last = part.at(-1);
    return first && last ? [{ ...cut, from: first.at, to: last.at, steps: part }] : [];
  });
}

/** Returns the index of the last burst that has started at a time. Returns 0 if none has. */
export function burstAt(bursts: readonly Burst[], at: number): number {
  const index = bursts.findLastIndex(({ from }) => from <= at);
  return Math.max(0, index);
}

/** Whether a step affects an actor or one of its descendants. */
const concerns = ({ actor, moves, told, asks, event }: Step, subject: string): boolean =>
  isWithin(actor, subject) ||
  event === 'began' ||
  event === 'ended' ||
  moves.some((move) => isWithin(move.actor, subject)) ||
  asks.some((ask) => isWithin(ask.actor, subject)) ||
  told.some(({ uid, container }) => isWithin(`pod/${uid}${container ? `/container/${container}` : ''}`, subject));

interface Cut {
  readonly begin: number;
  readonly title: string;
  readonly run?: number;
}

/** Returns the number of the run that a step creates a container for, if any. */
function runOf({ asks }: Pick<Step, 'asks'>, container: string): number | undefined {
  const ask = asks.find(({ port, actor }) => port === 'createContainer' && isWithin(actor, container));
  return ask && runIn(ask.about);
}

/** Returns the number of the run from the description of a `createContainer` call. */
export const runIn = (about: string): number => Number(/ attempt (\d+)$/.exec(about)?.[1] ?? 0) + 1;

/** Splits the steps into runs. A run starts with the transition away from the end of the previous run. */
function runCuts(steps: readonly Step[], subject: string): readonly Cut[] {
  const cuts: Cut[] = [];
  let begin = 0;
  steps.forEach((step, index) => {
    if (step.moves.some(({ actor, from = '' }) => actor === subject && RESTED.test(from))) begin = index;
    const run = runOf(step, subject);
    // A repeated call belongs to the same run.
    if (run !== undefined && run !== cuts.at(-1)?.run) cuts.push({ begin, title: `Run ${run}`, run });
  });
  const [first] = cuts;
  if (first?.begin === 0) return cuts;
  const title = first?.run === undefined ? 'Steps' : first.run > 1 ? `Run ${first.run - 1}` : 'Start';
  return [{ begin: 0, title }, ...cuts];
}

/** States that a container leaves only for its next run or to be stopped. */
const RESTED = /^(running|ended)\b/;

function gapCuts(steps: readonly Step[], subject: string): readonly Cut[] {
  const cuts: Cut[] = [];
  let last = steps[0]?.at ?? 0;
  steps.forEach((step, index) => {
    const isTry = kindOf(step.actor) === 'probe' && step.actor !== subject;
    if (cuts.length === 0 || (!isTry && step.at - last > GAP_MS)) cuts.push({ begin: index, title: 'Steps' });
    if (!isTry) last = Math.max(last, step.at);
  });
  return cuts;
}
