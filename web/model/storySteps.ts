/**
 * A story in steps: what entered, and all that followed from it at the same moment. A grant of a limiter is no entry of
 * the recording: it is seen from who stood in its queue.
 */
import type { EnteredLine, Story, StoryLine } from '../../inspect/protocol.ts';
import { distanceOf, kindOf, ownerOf, shortState, type Who, whoTold } from './storyWho.ts';

/** An actor came into a state. */
export interface Move {
  readonly at: number;
  readonly actor: string;
  readonly state: string;
  readonly tag?: string;
  /** The state that it left; absent where that is not known. */
  readonly from?: string;
}

/** A call that went out. */
export type Ask = Extract<StoryLine, { kind: 'asked' }>;

/** An event of Kubernetes that was recorded. */
export type Told = Extract<StoryLine, { kind: 'event' }>;

/** One macrostep. */
export interface Step {
  /** The place of its first line in the story. */
  readonly first: number;
  /** The places of all its lines. */
  readonly lines: readonly number[];
  readonly at: number;
  readonly who: Who;
  /** The machine's actor that it entered; of a fact of the whole node the first one that it moved. */
  readonly actor: string;
  /** The call, the timer or the fact. */
  readonly event: string;
  readonly what?: string;
  readonly tookMs?: number;
  readonly isBad: boolean;
  readonly moves: readonly Move[];
  readonly asks: readonly Ask[];
  readonly told: readonly Told[];
  /** What it begins with brought something, which can be asked for. */
  readonly entered?: Pick<EnteredLine, 'actor' | 'source' | 'at'>;
}

type Lines = Pick<Story, 'before' | 'lines'>;

/** The steps of a story, the earliest first; each of its lines is in exactly one. */
export const stepsOf = (story: Lines): Step[] => growingSteps()(story);

/** The steps of a story that goes on: of one that begins as the last one did only what is new is looked at. */
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

/** What a call is asked for by comes into its state just after it: so far ahead it is looked for. */
const AHEAD = 30;

/**
 * The moment that a line belongs to: everything that follows from what entered has the time of that, but for calls, which
 * go out a little later. Undefined: that of the line before.
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
  /** Its fact names no actor. */
  readonly isOfAll: boolean;
}

type Opening = Pick<Step, 'at' | 'who' | 'actor' | 'event'> &
  Partial<Pick<OpenStep, 'what' | 'tookMs' | 'isBad' | 'isOfAll' | 'entered'>>;

/** The calls that a limiter grants. */
const GRANTED = new Set(['runSandbox', 'createContainer', 'startContainer', 'pullImage']);

/** A call goes out so soon after what it follows from. */
const SOON = 100;

class StepMaker {
  readonly steps: OpenStep[] = [];
  readonly #states: Map<string, string>;
  /** The steps of the present moment begin here. */
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

  /** Whether its call went out at this moment, before it was told that it came into another state. */
  #isGranted(actor: string): boolean {
    return this.#ofMoment().some((step) => step.event === 'granted' && step.actor === actor && step.moves.length === 0);
  }

  #ofMoment(): readonly OpenStep[] {
    return this.steps.slice(Math.max(this.#momentBegins, this.steps.length - MOST_OPEN));
  }

  /** The step that something about an actor belongs to: of this moment the nearest one of its line, the latest of those. */
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

/** Of one moment so many steps are looked at: what follows from one comes soon after it. */
const MOST_OPEN = 50;

/** Whether a fact is rather about an actor than about the one that it moved before: those above others are. */
const isRatherOf = (actor: string, { moves, actor: before }: OpenStep): boolean =>
  moves.length === 1 || (kindOf(before) === 'image' && before.startsWith(`${actor}/`) && kindOf(actor) !== 'pod');

/** Farther than any actor above or below is another one of the same moment. */
const UNRELATED = 1_000;

function openingOf(line: EnteredLine): Opening {
  const { at, actor, outcome, source, tookMs, what, uid } = line;
  return {
    // A timer brings nothing.
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

/** What the facts of a feed are called in a story. */
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

/** Which limiter granted a step. */
export const gateOf = ({ actor }: Pick<Step, 'actor'>): 'start gate' | 'pull gate' =>
  kindOf(actor) === 'image' ? 'pull gate' : 'start gate';
