/**
 * The rows of the story. A step has one row for its input, one for each other actor that changed its state, and one for
 * each event.
 */
import type { Move, Step, Told } from './storySteps.ts';
import { changedState, distanceOf, kindOf, nameOf } from './storyWho.ts';
import { tookText } from './storyWords.ts';

/** A row of the story. */
export interface Row {
  readonly key: string;
  readonly at: number;
  /** Time of the last summarized step. Only set for a summary. */
  readonly until?: number;
  /** Path of the actor that changed its state, or that the row is about. */
  readonly actor: string;
  /** Undefined for a summary. */
  readonly step?: Step;
  readonly kind: 'entered' | 'moved' | 'event' | 'sum';
  /** E.g. `runtime`, `→ pod` or `→ event`. */
  readonly who: string;
  readonly text: string;
  readonly note?: string;
  readonly state?: { readonly text: string; readonly tag?: string };
  readonly move?: Move;
  /** The intermediate states that the actor passed through immediately, in order. */
  readonly passed: readonly string[];
  readonly isBad: boolean;
}

interface RowOptions {
  /** Path of the selected actor. Probe attempts are summarized unless the subject is the probe itself. */
  readonly subject: string;
  /** Whether to summarize seconds with too many lines. */
  readonly isSampled?: boolean;
}

/** Returns the rows of steps in order. Consecutive attempts of probes are summarized in one row per probe. */
export function rowsOf(steps: readonly Step[], { subject, isSampled = false }: RowOptions): Row[] {
  const busy = isSampled ? busySeconds(steps) : new Set<number>();
  const rows: Row[] = [];
  let summed: Step[] = [];
  let second: number | undefined;
  const flush = () => {
    rows.push(...sumsOf(summed, second !== undefined));
    summed = [];
  };
  for (const step of steps) {
    const its = busy.has(secondOf(step)) ? secondOf(step) : undefined;
    const isSummed = its !== undefined || isTryOf(step, subject);
    if (!isSummed || its !== second) flush();
    second = its;
    if (isSummed) summed.push(step);
    else rows.push(...stepRows(step));
  }
  flush();
  return rows;
}

/** Above this number of lines, a second is summarized, because nobody reads that many. */
const MOST_LINES_PER_SECOND = 200;

const secondOf = ({ at }: Step): number => Math.floor(at / 1_000);

function busySeconds(steps: readonly Step[]): ReadonlySet<number> {
  const counts = new Map<number, number>();
  for (const step of steps) counts.set(secondOf(step), (counts.get(secondOf(step)) ?? 0) + step.lines.length);
  return new Set([...counts].flatMap(([second, count]) => (count > MOST_LINES_PER_SECOND ? [second] : [])));
}

const isTryOf = ({ actor, told }: Step, subject: string): boolean =>
  kindOf(actor) === 'probe' && actor !== subject && told.length === 0;

/** Returns one summary row for each actor. */
function sumsOf(steps: readonly Step[], isSecond: boolean): Row[] {
  const byActor = Map.groupBy(steps, ({ actor }) => actor);
  return [...byActor].flatMap(([actor, its]) => {
    const [first] = its;
    if (!first) return [];
    if (its.length === 1 && isSecond) return stepRows(first);
    return [sumOf(actor, its, first)];
  });
}

function sumOf(actor: string, steps: readonly Step[], first: Step): Row {
  const isProbe = kindOf(actor) === 'probe';
  const tries = isProbe ? steps.filter(({ event }) => event === 'runProbe') : steps;
  const failed = tries.filter(isFailedStep).length;
  const [one, many] = isProbe ? ['try', 'tries'] : ['step', 'steps'];
  const outcome = failed > 0 ? `${failed} failed` : isProbe && tries.length > 0 ? 'all passed' : '';
  const last = steps.flatMap(({ moves }) => moves).findLast((move) => move.actor === actor);
  const until = steps.at(-1)?.at ?? first.at;
  return {
    key: `${first.first} sum ${actor}`,
    at: first.at,
    until,
    actor,
    kind: 'sum',
    passed: [],
    who: isProbe ? 'probe' : first.who,
    text: sumName(actor),
    note: `${tries.length} ${tries.length === 1 ? one : many}${outcome && `, ${outcome}`}`,
    ...(last ? { state: stateOf(last), move: last } : {}),
    isBad: failed > 0,
  };
}

/** Returns a short name, e.g. `proxy/readiness`. */
function sumName(actor: string): string {
  const steps = actor.split('/');
  return kindOf(actor) === 'probe' ? `${steps.at(-3)}/${steps.at(-1)}` : nameOf(actor);
}

/**
 * Whether an attempt failed. For a probe this is visible in its state, because a failed attempt also returns a result.
 */
export const isFailedStep = ({ isBad, moves, actor }: Step): boolean =>
  isBad || moves.some((move) => move.actor === actor && isBadMove(move));

/** Whether a state is a failure. */
export const isBadMove = ({ state, tag }: Pick<Move, 'state' | 'tag'>): boolean =>
  tag === 'failed' || tag === 'broken' || tag === 'retrying' || state.startsWith('failing.');

function stepRows(step: Step): Row[] {
  const byActor = Map.groupBy(step.moves, ({ actor }) => foldedOf(actor));
  const own = byActor.get(foldedOf(step.actor)) ?? [];
  const others = [...byActor].filter(([actor]) => actor !== foldedOf(step.actor));
  return [
    enteredRow(step, own),
    ...others.map(([actor, moves]) => movedRow(step, actor, moves)),
    ...step.told.map((told, index) => eventRow(step, told, index)),
  ];
}

const stateOf = ({ actor, from, state, tag }: Move): NonNullable<Row['state']> => ({
  text: kindOf(actor) === 'image' ? `image ${changedState(from, state)}` : changedState(from, state),
  ...(tag === undefined ? {} : { tag }),
});

/** Describes the final state of an actor. The container's own state takes precedence over that of its image. */
function movedOf(moves: readonly Move[]): Pick<Row, 'state' | 'move' | 'passed'> {
  const last = moves.findLast(({ actor }) => kindOf(actor) !== 'image') ?? moves.at(-1);
  const passed = moves
    .filter((move) => move !== last)
    .map(({ actor, state }) => (kindOf(actor) === 'image' ? `image ${state}` : state));
  const from = moves.find(({ actor }) => actor === last?.actor)?.from;
  if (!last) return { passed };
  return { state: stateOf(from === undefined ? last : { ...last, from }), move: last, passed };
}

/** Returns the actor that represents another one in the story. An image is represented by its container or volume. */
export const foldedOf = (actor: string): string =>
  kindOf(actor) === 'image' ? actor.slice(0, actor.lastIndexOf('/')) : actor;

function enteredRow(step: Step, moves: readonly Move[]): Row {
  const { first, at, who, event, what, tookMs, isBad } = step;
  const actor = foldedOf(step.actor);
  const said = what?.startsWith(`${nameOf(actor)} `) ? what.slice(nameOf(actor).length + 1) : what;
  const note = [tookMs === undefined ? undefined : tookText(tookMs), said].filter(Boolean).join(' ');
  return {
    key: `${first}`,
    at,
    actor,
    step,
    kind: 'entered',
    isBad,
    ...movedOf(moves),
    who: event === 'began' || event === 'ended' ? 'agent' : who,
    text: event === 'told' ? 'told by another' : event,
    ...(note === '' ? {} : { note }),
  };
}

function movedRow(step: Step, actor: string, moves: readonly Move[]): Row {
  const isAbove = step.actor.startsWith(`${actor}/`) && distanceOf(actor, step.actor) !== undefined;
  return {
    key: `${step.first} ${actor}`,
    at: step.at,
    actor,
    step,
    kind: 'moved',
    isBad: false,
    ...movedOf(moves),
    who: `→ ${nameOf(actor)}`,
    text: isAbove ? `${kindOf(foldedOf(step.actor))}.changed` : moves[0]?.from === undefined ? 'begins' : 'told',
  };
}

function eventRow(step: Step, told: Told, index: number): Row {
  const { uid, container, reason, eventType, message } = told;
  return {
    key: `${step.first} event ${index}`,
    at: told.at,
    step,
    kind: 'event',
    who: '→ event',
    text: reason,
    passed: [],
    actor: container ? `pod/${uid}/container/${container}` : `pod/${uid}`,
    isBad: false,
    note: eventType === 'Normal' ? message : `${eventType}: ${message}`,
  };
}
