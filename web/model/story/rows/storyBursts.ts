/**
 * Groups the steps of an actor into bursts. For a container, a burst is one of its runs, and for other actors, it is a
 * series of steps with only short gaps.
 */

import { isWithin, kindOf } from '../storyWho.ts';
import type { Step } from './storySteps.ts';

/** A group of consecutive steps that are displayed together. */
export interface Burst {
  /** Title of the burst, e.g. `Run 6` or `Start`. */
  readonly title: string;
  /** Number of the container's run, starting at 1. Undefined for other actors. */
  readonly run?: number;
  readonly from: number;
  readonly to: number;
  readonly steps: readonly Step[];
}

/** Maximum gap between two steps of a burst, in milliseconds. */
const GAP_MS = 10_000;

/** Returns the bursts of an actor and its descendants in chronological order. */
export const burstsOf = (steps: readonly Step[], subject: string): Burst[] => createBurstGrouper()(steps, subject);

/**
 * Number of most recent steps that may still change. Whether these steps concern the subject is therefore not cached.
 */
const UNSETTLED_STEPS = 100;

/**
 * Creates a function that groups a growing list of steps. It caches which steps concern the subject, except for the
 * latest steps.
 */
export function createBurstGrouper(): (steps: readonly Step[], subject: string) => Burst[] {
  let previousSubject = '';
  let relevanceByStep = new WeakMap<Step, boolean>();
  return (steps, subject) => {
    if (subject !== previousSubject) relevanceByStep = new WeakMap();
    previousSubject = subject;
    const settledCount = steps.length - UNSETTLED_STEPS;
    const relevantSteps = steps.filter((step, index) => {
      const isRelevant = relevanceByStep.get(step) ?? concernsSubject(step, subject);
      if (index < settledCount) relevanceByStep.set(step, isRelevant);
      return isRelevant;
    });
    return splitIntoBursts(relevantSteps, subject);
  };
}

function splitIntoBursts(relevantSteps: readonly Step[], subject: string): Burst[] {
  const burstCuts = kindOf(subject) === 'container' ? runCuts(relevantSteps, subject) : gapCuts(relevantSteps, subject);
  return burstCuts.flatMap(({ startIndex, ...cut }, index) => {
    const burstSteps = relevantSteps.slice(startIndex, burstCuts[index + 1]?.startIndex);
    const [firstStep] = burstSteps;
    const lastStep = burstSteps.at(-1);
    return firstStep && lastStep ? [{ ...cut, from: firstStep.at, to: lastStep.at, steps: burstSteps }] : [];
  });
}

/** Returns the index of the last burst that started at or before a given time, or 0 if there is none. */
export function burstIndexAt(bursts: readonly Burst[], at: number): number {
  const index = bursts.findLastIndex(({ from }) => from <= at);
  return Math.max(0, index);
}

/** Whether a step affects an actor or one of its descendants. */
const concernsSubject = ({ actor, moves, events, calls, event }: Step, subject: string): boolean =>
  isWithin(actor, subject) ||
  event === 'began' ||
  event === 'ended' ||
  moves.some((move) => isWithin(move.actor, subject)) ||
  calls.some((call) => isWithin(call.actor, subject)) ||
  events.some(({ uid, container }) => isWithin(`pod/${uid}${container ? `/container/${container}` : ''}`, subject));

/** The start of a burst. */
interface Cut {
  readonly startIndex: number;
  readonly title: string;
  readonly run?: number;
}

/** Returns the number of the run for which a step requests the creation of a container, if any. */
function requestedRun({ calls }: Pick<Step, 'calls'>, container: string): number | undefined {
  const createCall = calls.find(({ port, actor }) => port === 'createContainer' && isWithin(actor, container));
  return createCall && runNumberIn(createCall.about);
}

/** Parses the number of the run from the description of a `createContainer` call. */
export const runNumberIn = (about: string): number => Number(/ attempt (\d+)$/.exec(about)?.[1] ?? 0) + 1;

/**
 * Splits the steps into runs. A run starts with the container's transition out of the last state of its previous run.
 */
function runCuts(steps: readonly Step[], subject: string): readonly Cut[] {
  const runStartCuts: Cut[] = [];
  let startIndex = 0;
  steps.forEach((step, index) => {
    if (step.moves.some(({ actor, from = '' }) => actor === subject && STATES_BEFORE_NEXT_RUN.test(from)))
      startIndex = index;
    const run = requestedRun(step, subject);
    // Skip a repeated call, because it belongs to the same run.
    if (run !== undefined && run !== runStartCuts.at(-1)?.run)
      runStartCuts.push({ startIndex, title: `Run ${run}`, run });
  });
  const [first] = runStartCuts;
  if (first?.startIndex === 0) return runStartCuts;
  const title = first?.run === undefined ? 'Steps' : first.run > 1 ? `Run ${first.run - 1}` : 'Start';
  return [{ startIndex: 0, title }, ...runStartCuts];
}

/** States that a container leaves only when it is run again or stopped. */
const STATES_BEFORE_NEXT_RUN = /^(running|ended)\b/;

function gapCuts(steps: readonly Step[], subject: string): readonly Cut[] {
  const gapStartCuts: Cut[] = [];
  let lastAt = steps[0]?.at ?? 0;
  steps.forEach((step, index) => {
    const isAttempt = kindOf(step.actor) === 'probe' && step.actor !== subject;
    if (gapStartCuts.length === 0 || (!isAttempt && step.at - lastAt > GAP_MS))
      gapStartCuts.push({ startIndex: index, title: 'Steps' });
    if (!isAttempt) lastAt = Math.max(lastAt, step.at);
  });
  return gapStartCuts;
}
