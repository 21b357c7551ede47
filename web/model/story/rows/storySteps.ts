/**
 * Groups the lines of a story into steps. A step is an input with all of its immediate consequences. A limiter's grants
 * of slots are not recorded, so they are inferred from actors that leave the limiter's queue.
 */
import type { EnteredLine, Story, StoryLine } from '../../../../inspect/protocol.ts';
import { distanceOf, inputSource, kindOf, machineActorOf, type Source, shortState } from '../storyWho.ts';

/** A transition of an actor. */
export interface Move {
  readonly at: number;
  readonly actor: string;
  readonly state: string;
  readonly tag?: string;
  /** The previous state. Undefined if unknown. */
  readonly from?: string;
}

export type OutgoingCall = Extract<StoryLine, { kind: 'asked' }>;

/** A recorded Kubernetes event. */
export type RecordedEvent = Extract<StoryLine, { kind: 'event' }>;

/** An input with all of its immediate consequences, i.e. a macrostep. */
export interface Step {
  /** Index of the step's first line in the story. */
  readonly firstLineIndex: number;
  /** Indexes of the step's lines in the story. */
  readonly lineIndexes: readonly number[];
  readonly at: number;
  readonly source: Source;
  /**
   * The actor that received the input. If the input concerns the whole node, the first actor whose state it changed.
   */
  readonly actor: string;
  /** Name of the call, the timer or the reported fact. */
  readonly event: string;
  readonly detail?: string;
  readonly durationMs?: number;
  readonly isFailure: boolean;
  readonly moves: readonly Move[];
  readonly calls: readonly OutgoingCall[];
  readonly events: readonly RecordedEvent[];
  /** Identifies the input that started the step, if its payload can be requested. */
  readonly entered?: Pick<EnteredLine, 'actor' | 'source' | 'at'>;
}

type StoryLines = Pick<Story, 'before' | 'lines'>;

/** Returns the steps of a story in chronological order. Each line belongs to exactly one step. */
export const storySteps = (story: StoryLines): Step[] => createStepGrouper()(story);

/**
 * Creates a function that returns the steps of a growing story. If a story extends the previous one, only the new lines
 * are processed.
 */
export function createStepGrouper(): (story: StoryLines) => Step[] {
  let stepBuilder: StepBuilder | undefined;
  let previousStory: StoryLines = { before: [], lines: [] };
  return (story) => {
    const { before, lines } = story;
    const processedCount = previousStory.lines.length;
    const isExtended =
      before === previousStory.before &&
      lines[0] === previousStory.lines[0] &&
      lines[processedCount - 1] === previousStory.lines[processedCount - 1];
    const isContinued = stepBuilder !== undefined && processedCount > 0 && isExtended;
    const currentBuilder = stepBuilder !== undefined && isContinued ? stepBuilder : new StepBuilder(before);
    const firstNewIndex = isContinued ? processedCount : 0;
    for (const [index, line] of lines.slice(firstNewIndex).entries())
      currentBuilder.addLine(line, firstNewIndex + index, macrostepTime(lines, firstNewIndex + index));
    [stepBuilder, previousStory] = [currentBuilder, story];
    return [...currentBuilder.steps];
  };
}

/** Maximum number of lines after a call that are searched for the state in which the call was made. */
const MAX_LOOKAHEAD = 30;

/**
 * Returns the time of the macrostep to which a line belongs. All consequences have the time of their input, except for
 * calls, which are recorded slightly later. Undefined if the line belongs to the previous macrostep.
 */
function macrostepTime(lines: readonly StoryLine[], index: number): number | undefined {
  const line = lines[index];
  if (line?.kind !== 'asked') return line?.at;
  const actor = machineActorOf(line.actor);
  const nextCallOrState = lines
    .slice(index + 1, index + MAX_LOOKAHEAD)
    .find((each) => each.kind === 'state' && each.actor === actor);
  return nextCallOrState && nextCallOrState.at <= line.at ? nextCallOrState.at : undefined;
}

interface OpenStep extends Step {
  actor: string;
  isFailure: boolean;
  readonly lineIndexes: number[];
  readonly moves: Move[];
  readonly calls: OutgoingCall[];
  readonly events: RecordedEvent[];
  /** Whether the input has no particular recipient. */
  readonly isNodeWide: boolean;
}

type StepOpening = Pick<Step, 'at' | 'source' | 'actor' | 'event'> &
  Partial<Pick<OpenStep, 'detail' | 'durationMs' | 'isFailure' | 'isNodeWide' | 'entered'>>;

/** Ports whose calls need a slot of a limiter. */
const LIMITED_PORTS = new Set(['runSandbox', 'createContainer', 'startContainer', 'pullImage']);

/** Maximum time between an input and a call that results from it, in milliseconds. */
const MAX_CALL_DELAY_MS = 100;

class StepBuilder {
  readonly steps: OpenStep[] = [];
  readonly #states: Map<string, string>;
  /** Index of the first step of the current macrostep. */
  #macrostepStart = 0;
  #at = Number.NEGATIVE_INFINITY;

  constructor(before: Story['before']) {
    this.#states = new Map(before.map(({ actor, state }) => [actor, state]));
  }

  addLine(line: StoryLine, index: number, macrostep: number | undefined): void {
    const at = macrostep ?? (this.#at > line.at - MAX_CALL_DELAY_MS ? this.#at : line.at);
    if (at !== this.#at) this.#macrostepStart = this.steps.length;
    this.#at = at;
    switch (line.kind) {
      case 'entered':
        this.openStep(index, createInputOpening(line));
        return;
      case 'began':
      case 'ended':
        if (line.kind === 'began') this.#states.clear();
        this.openStep(index, { at: line.at, source: 'node', actor: '', event: line.kind, isNodeWide: true });
        return;
      case 'asked':
        this.addCall(line, index);
        return;
      case 'state':
        this.addMove(line, index);
        return;
      case 'event':
        this.#stepFor(subjectOf(line), line.at, index).events.push(line);
    }
  }

  openStep(index: number, { isFailure = false, isNodeWide = false, ...opening }: StepOpening): OpenStep {
    const step: OpenStep = {
      firstLineIndex: index,
      lineIndexes: [index],
      moves: [],
      calls: [],
      events: [],
      isFailure,
      isNodeWide,
      ...opening,
    };
    this.steps.push(step);
    return step;
  }

  addCall(line: OutgoingCall, index: number): void {
    const actor = machineActorOf(line.actor);
    const isGrant = LIMITED_PORTS.has(line.port) && this.#isQueued(actor);
    const step = isGrant ? this.openStep(index, grantOpening(actor, this.#at)) : this.#stepFor(actor, this.#at, index);
    step.calls.push(line);
  }

  addMove({ at, actor, state, tag }: Extract<StoryLine, { kind: 'state' }>, index: number): void {
    const from = this.#states.get(actor);
    const isGrant = tag === 'working' && this.#isQueued(actor) && !this.#isGranted(actor);
    const step = isGrant ? this.openStep(index, grantOpening(actor, at)) : this.#stepFor(actor, at, index);
    this.#states.set(actor, state);
    step.moves.push({
      at,
      actor,
      state,
      ...(tag === undefined ? {} : { tag }),
      ...(from === undefined ? {} : { from }),
    });
    if (step.isNodeWide && takesPrecedence(actor, step)) step.actor = actor;
  }

  #isQueued(actor: string): boolean {
    return shortState(this.#states.get(actor) ?? '') === 'queued';
  }

  /** Whether the actor was just granted a slot but has not changed its state yet. */
  #isGranted(actor: string): boolean {
    return this.currentSteps().some(
      (step) => step.event === 'granted' && step.actor === actor && step.moves.length === 0,
    );
  }

  currentSteps(): readonly OpenStep[] {
    return this.steps.slice(Math.max(this.#macrostepStart, this.steps.length - MAX_CANDIDATES));
  }

  /**
   * Returns the step of the current macrostep that caused an actor's change. This is the step whose actor is closest in
   * the tree, or the latest one if several are equally close.
   */
  #stepFor(actor: string, at: number, index: number): OpenStep {
    const closestStep = this.currentSteps().reduce<{ step?: OpenStep; distance: number }>(
      (best, step) => {
        const distance =
          (step.isNodeWide ? distanceOf('', actor) : distanceOf(step.actor, actor)) ?? UNRELATED_DISTANCE;
        return distance <= best.distance ? { step, distance } : best;
      },
      { distance: Number.POSITIVE_INFINITY },
    );
    if (closestStep.step) {
      closestStep.step.lineIndexes.push(index);
      return closestStep.step;
    }
    return this.openStep(index, { at, source: 'node', actor, event: 'told' });
  }
}

/** Maximum number of steps to search for a cause, because a consequence follows soon after its input. */
const MAX_CANDIDATES = 50;

/**
 * Whether a step should be attributed to `actor` rather than to its current actor. A container or volume takes
 * precedence over its image.
 */
const takesPrecedence = (actor: string, { moves, actor: previousActor }: OpenStep): boolean =>
  moves.length === 1 ||
  (kindOf(previousActor) === 'image' && previousActor.startsWith(`${actor}/`) && kindOf(actor) !== 'pod');

/** Distance of unrelated actors, which is larger than any distance between related actors. */
const UNRELATED_DISTANCE = 1_000;

function createInputOpening(line: EnteredLine): StepOpening {
  const { at, actor, outcome, source, tookMs: durationMs, what: detail, uid } = line;
  return {
    // Omit the reference to the input, because a timer has no payload.
    ...(outcome === 'elapsed' ? {} : { entered: { actor, source, at } }),
    at,
    source: inputSource(line),
    event: outcome === 'fact' ? (FACT_TEXTS.get(source) ?? source) : eventOf(line),
    ...(outcome === 'fact' ? factActor(uid) : { actor: machineActorOf(line.actor) }),
    ...(detail === undefined || detail === '' ? {} : { detail }),
    ...(durationMs === undefined ? {} : { durationMs }),
    isFailure: outcome === 'failure' || /\bexit [1-9?]/.test(detail ?? ''),
  };
}

const eventOf = ({ outcome, source }: EnteredLine): string => (outcome === 'elapsed' ? 'elapsed' : source);

const factActor = (uid: string | undefined): Pick<StepOpening, 'actor' | 'isNodeWide'> => ({
  actor: uid === undefined ? '' : `pod/${uid}`,
  isNodeWide: true,
});

/** Descriptions of the facts that event feeds report, keyed by feed. */
const FACT_TEXTS: ReadonlyMap<string, string> = new Map([
  ['pleg', 'observed'],
  ['sources', 'manifest'],
  ['watches', 'watched'],
  ['ticker', 'ticked'],
  ['runtimeHealth', 'health'],
]);

const grantOpening = (actor: string, at: number): StepOpening => ({ at, source: 'gate', actor, event: 'granted' });

const subjectOf = ({ uid, container }: RecordedEvent): string =>
  container === undefined ? `pod/${uid}` : `pod/${uid}/container/${container}`;

/** Returns the limiter that grants slots to the actor of a step. */
export const gateOf = ({ actor }: Pick<Step, 'actor'>): 'start gate' | 'pull gate' =>
  kindOf(actor) === 'image' ? 'pull gate' : 'start gate';
