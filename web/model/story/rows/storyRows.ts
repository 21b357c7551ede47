/**
 * Converts the steps of a story to rows. A step results in one row for its input, one for each other actor whose state
 * changed, and one for each event.
 */

import { changedState, distanceOf, kindOf, nameOf } from '../storyWho.ts';
import { formatDuration } from '../storyWords.ts';
import type { Move, RecordedEvent, Step } from './storySteps.ts';

export interface Row {
  readonly key: string;
  readonly at: number;
  /** Time of the last summarized step. Only defined for a summary. */
  readonly until?: number;
  /** Path of the actor that the row is about, e.g. the actor whose state changed. */
  readonly actor: string;
  /** The step that the row belongs to. Undefined for a summary. */
  readonly step?: Step;
  readonly kind: 'entered' | 'moved' | 'event' | 'sum';
  /** The source of the input or change, e.g. `runtime`, `→ pod` or `→ event`. */
  readonly source: string;
  readonly text: string;
  readonly note?: string;
  readonly state?: { readonly text: string; readonly tag?: string };
  readonly move?: Move;
  /** Transient states that the actor passed through, in order. */
  readonly passedStates: readonly string[];
  readonly isFailure: boolean;
}

interface RowOptions {
  /** Path of the selected actor. Attempts of a probe are summarized unless the probe is selected. */
  readonly subject: string;
  /** Whether to summarize each second that has too many lines. */
  readonly isSampled?: boolean;
}

/** Returns the rows of the steps in order. Consecutive probe attempts are summarized in one row per probe. */
export function storyRows(steps: readonly Step[], { subject, isSampled = false }: RowOptions): Row[] {
  const busySecondSet = isSampled ? busySeconds(steps) : new Set<number>();
  const rows: Row[] = [];
  let pendingSteps: Step[] = [];
  let summarizedSecond: number | undefined;
  const flushPendingSteps = () => {
    rows.push(...summaryRows(pendingSteps, summarizedSecond !== undefined));
    pendingSteps = [];
  };
  for (const step of steps) {
    const busySecond = busySecondSet.has(secondOf(step)) ? secondOf(step) : undefined;
    const isSummarized = busySecond !== undefined || isProbeAttempt(step, subject);
    if (!isSummarized || busySecond !== summarizedSecond) flushPendingSteps();
    summarizedSecond = busySecond;
    if (isSummarized) pendingSteps.push(step);
    else rows.push(...stepRows(step));
  }
  flushPendingSteps();
  return rows;
}

/** Maximum number of lines within a second. A second with more lines is summarized, because nobody would read them. */
const MAX_LINES_PER_SECOND = 200;

const secondOf = ({ at }: Step): number => Math.floor(at / 1_000);

function busySeconds(steps: readonly Step[]): ReadonlySet<number> {
  const countsBySecond = new Map<number, number>();
  for (const step of steps)
    countsBySecond.set(secondOf(step), (countsBySecond.get(secondOf(step)) ?? 0) + step.lineIndexes.length);
  return new Set([...countsBySecond].flatMap(([second, count]) => (count > MAX_LINES_PER_SECOND ? [second] : [])));
}

const isProbeAttempt = ({ actor, events }: Step, subject: string): boolean =>
  kindOf(actor) === 'probe' && actor !== subject && events.length === 0;

/** Returns one summary row for each actor. */
function summaryRows(steps: readonly Step[], isSecond: boolean): Row[] {
  const stepsByActor = Map.groupBy(steps, ({ actor }) => actor);
  return [...stepsByActor].flatMap(([actor, actorSteps]) => {
    const [first] = actorSteps;
    if (!first) return [];
    if (actorSteps.length === 1 && isSecond) return stepRows(first);
    return [summaryRow(actor, actorSteps, first)];
  });
}

function summaryRow(actor: string, steps: readonly Step[], first: Step): Row {
  const isProbe = kindOf(actor) === 'probe';
  const attempts = isProbe ? steps.filter(({ event }) => event === 'runProbe') : steps;
  const failureCount = attempts.filter(isFailedStep).length;
  const [singular, plural] = isProbe ? ['try', 'tries'] : ['step', 'steps'];
  const outcomeText = failureCount > 0 ? `${failureCount} failed` : isProbe && attempts.length > 0 ? 'all passed' : '';
  const lastMove = steps.flatMap(({ moves }) => moves).findLast((move) => move.actor === actor);
  const until = steps.at(-1)?.at ?? first.at;
  return {
    key: `${first.firstLineIndex} sum ${actor}`,
    at: first.at,
    until,
    actor,
    kind: 'sum',
    passedStates: [],
    source: isProbe ? 'probe' : first.source,
    text: summaryName(actor),
    note: `${attempts.length} ${attempts.length === 1 ? singular : plural}${outcomeText && `, ${outcomeText}`}`,
    ...(lastMove ? { state: describeState(lastMove), move: lastMove } : {}),
    isFailure: failureCount > 0,
  };
}

/** Returns the short name of an actor for a summary, e.g. `proxy/readiness`. */
function summaryName(actor: string): string {
  const steps = actor.split('/');
  return kindOf(actor) === 'probe' ? `${steps.at(-3)}/${steps.at(-1)}` : nameOf(actor);
}

/**
 * Whether a step failed. A failed probe attempt is recognized by the probe's state, because the call that runs the
 * probe succeeds even if the probe fails.
 */
export const isFailedStep = ({ isFailure, moves, actor }: Step): boolean =>
  isFailure || moves.some((move) => move.actor === actor && isFailedMove(move));

/** Whether a transition leads to a failure state. */
export const isFailedMove = ({ state, tag }: Pick<Move, 'state' | 'tag'>): boolean =>
  tag === 'failed' || tag === 'broken' || tag === 'retrying' || state.startsWith('failing.');

function stepRows(step: Step): Row[] {
  const movesByActor = Map.groupBy(step.moves, ({ actor }) => representativeOf(actor));
  const ownMoves = movesByActor.get(representativeOf(step.actor)) ?? [];
  const otherActors = [...movesByActor].filter(([actor]) => actor !== representativeOf(step.actor));
  return [
    inputRow(step, ownMoves),
    ...otherActors.map(([actor, moves]) => stateChangeRow(step, actor, moves)),
    ...step.events.map((recorded, index) => eventRow(step, recorded, index)),
  ];
}

const describeState = ({ actor, from, state, tag }: Move): NonNullable<Row['state']> => ({
  text: kindOf(actor) === 'image' ? `image ${changedState(from, state)}` : changedState(from, state),
  ...(tag === undefined ? {} : { tag }),
});

/**
 * Describes the state to which the last move leads. Moves of images are considered only if there are no other moves.
 */
function finalState(moves: readonly Move[]): Pick<Row, 'state' | 'move' | 'passedStates'> {
  const lastMove = moves.findLast(({ actor }) => kindOf(actor) !== 'image') ?? moves.at(-1);
  const passedStates = moves
    .filter((move) => move !== lastMove)
    .map(({ actor, state }) => (kindOf(actor) === 'image' ? `image ${state}` : state));
  const from = moves.find(({ actor }) => actor === lastMove?.actor)?.from;
  if (!lastMove) return { passedStates };
  return { state: describeState(from === undefined ? lastMove : { ...lastMove, from }), move: lastMove, passedStates };
}

/**
 * Returns the actor that represents the given actor in the story. An image is represented by its container or volume.
 */
export const representativeOf = (actor: string): string =>
  kindOf(actor) === 'image' ? actor.slice(0, actor.lastIndexOf('/')) : actor;

function inputRow(step: Step, moves: readonly Move[]): Row {
  const { firstLineIndex, at, source, event, detail, durationMs, isFailure } = step;
  const actor = representativeOf(step.actor);
  const description = detail?.startsWith(`${nameOf(actor)} `) ? detail.slice(nameOf(actor).length + 1) : detail;
  const note = [durationMs === undefined ? undefined : formatDuration(durationMs), description]
    .filter(Boolean)
    .join(' ');
  return {
    key: `${firstLineIndex}`,
    at,
    actor,
    step,
    kind: 'entered',
    isFailure,
    ...finalState(moves),
    source: event === 'began' || event === 'ended' ? 'agent' : source,
    text: event === 'told' ? 'told by another' : event,
    ...(note === '' ? {} : { note }),
  };
}

function stateChangeRow(step: Step, actor: string, moves: readonly Move[]): Row {
  const isAncestor = step.actor.startsWith(`${actor}/`) && distanceOf(actor, step.actor) !== undefined;
  return {
    key: `${step.firstLineIndex} ${actor}`,
    at: step.at,
    actor,
    step,
    kind: 'moved',
    isFailure: false,
    ...finalState(moves),
    source: `→ ${nameOf(actor)}`,
    text: isAncestor
      ? `${kindOf(representativeOf(step.actor))}.changed`
      : moves[0]?.from === undefined
        ? 'begins'
        : 'told',
  };
}

function eventRow(step: Step, recordedEvent: RecordedEvent, index: number): Row {
  const { uid, container, reason, eventType, message } = recordedEvent;
  return {
    key: `${step.firstLineIndex} event ${index}`,
    at: recordedEvent.at,
    step,
    kind: 'event',
    source: '→ event',
    text: reason,
    passedStates: [],
    actor: container ? `pod/${uid}/container/${container}` : `pod/${uid}`,
    isFailure: false,
    note: eventType === 'Normal' ? message : `${eventType}: ${message}`,
  };
}
