/** The steps of one actor in bursts: the runs of a container, and of any other what lies close together. */
import type { Step } from './storySteps.ts';
import { isWithin, kindOf } from './storyWho.ts';

/** Steps that are shown together. */
export interface Burst {
  /** `Run 6`, `Start`. */
  readonly title: string;
  /** Of a container's run: its number, the first being 1. */
  readonly run?: number;
  readonly from: number;
  readonly to: number;
  readonly steps: readonly Step[];
}

/** What lies farther apart than this is another burst. */
const GAP_MS = 10_000;

/** The bursts of an actor and of those below it, the earliest first; empty where nothing happened to them. */
export const burstsOf = (steps: readonly Step[], subject: string): Burst[] => growingBursts()(steps, subject);

/** So many of the latest steps may still change. */
const UNSETTLED = 100;

/** The bursts of steps that go on: whom a step concerns is looked at once, but for the latest. */
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

/** The burst that a moment is in: the last one that has begun; before the first it is that. */
export function burstAt(bursts: readonly Burst[], at: number): number {
  const index = bursts.findLastIndex(({ from }) => from <= at);
  return Math.max(0, index);
}

/** Whether a step is one of an actor or of those below it, or moved one of them. */
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

/** The number of the run that a step asks for; undefined: none. */
function runOf({ asks }: Pick<Step, 'asks'>, container: string): number | undefined {
  const ask = asks.find(({ port, actor }) => port === 'createContainer' && isWithin(actor, container));
  return ask && runIn(ask.about);
}

/** The number of the run that a container is created for. */
export const runIn = (about: string): number => Number(/ attempt (\d+)$/.exec(about)?.[1] ?? 0) + 1;

/** A run begins with what led away from the end of the one before. */
function runCuts(steps: readonly Step[], subject: string): readonly Cut[] {
  const cuts: Cut[] = [];
  let begin = 0;
  steps.forEach((step, index) => {
    if (step.moves.some(({ actor, from = '' }) => actor === subject && RESTED.test(from))) begin = index;
    const run = runOf(step, subject);
    // A call that is made again belongs to the same run.
    if (run !== undefined && run !== cuts.at(-1)?.run) cuts.push({ begin, title: `Run ${run}`, run });
  });
  const [first] = cuts;
  if (first?.begin === 0) return cuts;
  const title = first?.run === undefined ? 'Steps' : first.run > 1 ? `Run ${first.run - 1}` : 'Start';
  return [{ begin: 0, title }, ...cuts];
}

/** A container leaves them only towards its next run, or to be stopped. */
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
