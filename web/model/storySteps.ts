/**
 * Groups the lines of a story into steps. A step is an input with all of its immediate consequences. A slot grant is
 * not part of the recording, so it is inferred from the actor that was queued.
 */
import type { EnteredLine, Story, StoryLine } from '../../inspect/protocol.ts';
import { distanceOf, kindOf, ownerOf, shortState, type Who, whoTold } from './storyWho.ts';

/** A transition of an actor. */
export interface Move {
  readonly at: number;
  readonly actor: string;
  readonly state: string;
  readonly tag?: string;
  /** The previous state. Undefined if unknown. */
  readonly from?: string;
}

/** An outgoing call. */
export type Ask = Extract<StoryLine, { kind: 'asked' }>;

/** A recorded Kubernetes event. */
export type Told = Extract<StoryLine, { kind: 'event' }>;

/** A macrostep. */
export interface Step {
  /** Index of the first line in the story. */
  readonly first: number;
  /** Indexes of all lines in the story. */
  readonly lines: readonly number[];
  readonly at: number;
  readonly who: Who;
  /** The machine's actor that received the input. For an input of the whole node, the first actor that it moved. */
  readonly actor: string;
  /** Name of the call, the timer or the fact. */
  readonly event: string;
  readonly what?: string;
  readonly tookMs?: number;
  readonly isBad: boolean;
  readonly moves: readonly Move[];
  readonly asks: readonly Ask[];
  readonly told: readonly Told[];
  /** The input that started the step, if it has a payload that can be requested. */
  readonly entered?: Pick<EnteredLine, 'actor' | 'source' | 'at'>;
}

type Lines = Pick<Story, 'before' | 'lines'>;

/** Returns the steps of a story in chronological order. Each line belongs to exactly one step. */
export const stepsOf = (story: Lines): Step[] => growingSteps()(story);

/**
 * Creates a function that returns the steps of a growing story. If a story extends the previous one, only the new lines
 * are processed.
 */
export function growingSteps(): (story: Lines) => Step[] {
  let maker: StepMaker | undefined;
  let last: Lines = { before: [], lines: [] };
  return (story) => {
    const { before, lines } = story;
    const done = last.lines.length;
    const isGrown = before === last.before && lines[0] === last.lines[0] && lines[done - 1] === last.lines[done - 1];
    const goesOn = maker !== undefined && done > 0 && isGrown;
    const own = maker !== undefined && goesOn ? maker : new StepMaker(before);
    const first = goesOn ? done : 0;
    for (const [index, line] of lines.slice(first).entries())
      own.take(line, first + index, momentOf(lines, first + index));
    [maker, last] = [own, story];
    return [...own.steps];
  };
}

/** Maximum number of lines to search for the state that sent a call. Its line follows just after the call. */
const AHEAD = 30;

/**
 * Returns the time of the macrostep that a line belongs to. All consequences have the time of their input, except for
 * calls, which are sent a little later. Undefined if the line belongs to the previous macrostep.
 */
function momentOf(lines: readonly StoryLine[], index: number): number | undefined {
  const line = lines[index];
  if (line?.kind !== 'asked') return line?.at;
  const actor = ownerOf(line.actor);
  const next = lines.slice(index + 1, index + AHEAD).find((each) => each.kind === 'state' && each.actor === actor);
  return next && next.at <= line.at ? next.at : undefined;
}

interface OpenStep extends Step {
  actor: string;
  isBad: boolean;
  readonly lines: number[];
  readonly moves: Move[];
  readonly asks: Ask[];
  readonly told: Told[];
  /** Whether the input is not addressed to a particular actor. */
  readonly isOfAll: boolean;
}

type Opening = Pick<Step, 'at' | 'who' | 'actor' | 'event'> &
  Partial<Pick<OpenStep, 'what' | 'tookMs' | 'isBad' | 'isOfAll' | 'entered'>>;

/** Ports whose calls wait for a limiter's slot. */
const GRANTED = new Set(['runSandbox', 'createContainer', 'startContainer', 'pullImage']);

/** Maximum delay of a call after its input, in milliseconds. */
const SOON = 100;

class StepMaker {
  readonly steps: OpenStep[] = [];
  readonly #states: Map<string, string>;
  /** Index of the first step of the current macrostep. */
  #momentBegins = 0;
  #at = Number.NEGATIVE_INFINITY;

  constructor(before: Story['before']) {
    this.#states = new Map(before.map(({ actor, state }) => [actor, state]));
  }

  take(line: StoryLine, index: number, moment: number | undefined): void {
    const at = moment ?? (this.#at > line.at - SOON ? this.#at : line.at);
    if (at !== this.#at) this.#momentBegins = this.steps.length;
    this.#at = at;
    switch (line.kind) {
      case 'entered':
        this.#open(index, openingOf(line));
        return;
      case 'began':
      case 'ended':
        if (line.kind === 'began') this.#states.clear();
        this.#open(index, { at: line.at, who: 'node', actor: '', event: line.kind, isOfAll: true });
        return;
      case 'asked':
        this.#asked(line, index);
        return;
      case 'state':
        this.#moved(line, index);
        return;
      case 'event':
        this.#stepFor(subjectOf(line), line.at, index).told.push(line);
    }
  }

  #open(index: number, { isBad = false, isOfAll = false, ...opening }: Opening): OpenStep {
    const step: OpenStep = {
      first: index,
      lines: [index],
      moves: [],
      asks: [],
      told: [],
      isBad,
      isOfAll,
      ...opening,
    };
    this.steps.push(step);
    return step;
  }

  #asked(line: Ask, index: number): void {
    const actor = ownerOf(line.actor);
    const isGrant = GRANTED.has(line.port) && this.#isQueued(actor);
    const step = isGrant ? this.#open(index, grantOf(actor, this.#at)) : this.#stepFor(actor, this.#at, index);
    step.asks.push(line);
  }

  #moved({ at, actor, state, tag }: Extract<StoryLine, { kind: 'state' }>, index: number): void {
    const from = this.#states.get(actor);
    const isGrant = tag === 'working' && this.#isQueued(actor) && !this.#isGranted(actor);
    const step = isGrant ? this.#open(index, grantOf(actor, at)) : this.#stepFor(actor, at, index);
    this.#states.set(actor, state);
    step.moves.push({
      at,
      actor,
      state,
      ...(tag === undefined ? {} : { tag }),
      ...(from === undefined ? {} : { from }),
    });
    if (step.isOfAll && isRatherOf(actor, step)) step.actor = actor;
  }

  #isQueued(actor: string): boolean {
    return shortState(this.#states.get(actor) ?? '') === 'queued';
  }

  /** Whether a slot was just granted to the actor, but its new state has not been reported yet. */
  #isGranted(actor: string): boolean {
    return this.#ofMoment().some((step) => step.event === 'granted' && step.actor === actor && step.moves.length === 0);
  }

  #ofMoment(): readonly OpenStep[] {
    return this.steps.slice(Math.max(this.#momentBegins, this.steps.length - MOST_OPEN));
  }

  /**
   * Returns the step that caused a change of an actor. It is the closest step of the current macrostep by distance in
   * the tree. The latest one wins a tie.
   */
  #stepFor(actor: string, at: number, index: number): OpenStep {
    const near = this.#ofMoment().reduce<{ step?: OpenStep; distance: number }>(
      (best, step) => {
        const distance = (step.isOfAll ? distanceOf('', actor) : distanceOf(step.actor, actor)) ?? UNRELATED;
        return distance <= best.distance ? { step, distance } : best;
      },
      { distance: Number.POSITIVE_INFINITY },
    );
    if (near.step) {
      near.step.lines.push(index);
      return near.step;
    }
    return this.#open(index, { at, who: 'node', actor, event: 'told' });
  }
}

/** Maximum number of steps that are searched for a cause, because a consequence follows soon after its input. */
const MOST_OPEN = 50;

/**
 * Whether an input concerns this actor rather than the previously moved one. A parent takes precedence over its image.
 */
const isRatherOf = (actor: string, { moves, actor: before }: OpenStep): boolean =>
  moves.length === 1 || (kindOf(before) === 'image' && before.startsWith(`${actor}/`) && kindOf(actor) !== 'pod');

/** Larger than any distance between related actors. */
const UNRELATED = 1_000;

function openingOf(line: EnteredLine): Opening {
  const { at, actor, outcome, source, tookMs, what, uid } = line;
  return {
    // A timer has no payload.
    ...(outcome === 'elapsed' ? {} : { entered: { actor, source, at } }),
    at,
    who: whoTold(line),
    event: outcome === 'fact' ? (FACTS.get(source) ?? source) : eventOf(line),
    ...(outcome === 'fact' ? factActor(uid) : { actor: ownerOf(line.actor) }),
    ...(what === undefined || what === '' ? {} : { what }),
    ...(tookMs === undefined ? {} : { tookMs }),
    isBad: outcome === 'failure' || /\bexit [1-9?]/.test(what ?? ''),
  };
}

const eventOf = ({ outcome, source }: EnteredLine): string => (outcome === 'elapsed' ? 'elapsed' : source);

const factActor = (uid: string | undefined): Pick<Opening, 'actor' | 'isOfAll'> => ({
  actor: uid === undefined ? '' : `pod/${uid}`,
  isOfAll: true,
});

/** Names of the facts of each feed in the story. */
const FACTS: ReadonlyMap<string, string> = new Map([
  ['pleg', 'observed'],
  ['sources', 'manifest'],
  ['watches', 'watched'],
  ['ticker', 'ticked'],
  ['runtimeHealth', 'health'],
]);

const grantOf = (actor: string, at: number): Opening => ({ at, who: 'gate', actor, event: 'granted' });

const subjectOf = ({ uid, container }: Told): string =>
  container === undefined ? `pod/${uid}` : `pod/${uid}/container/${container}`;

/** Returns the limiter that granted a slot. */
export const gateOf = ({ actor }: Pick<Step, 'actor'>): 'start gate' | 'pull gate' =>
  kindOf(actor) === 'image' ? 'pull gate' : 'start gate';
