import type { PodChange } from '../../../actors/status/statusBoard.ts';
import type { ActorNode } from '../../../show/actors/actorNode.ts';
import type { NodeExplanation } from '../../../show/explain/explainNode.ts';
import { formatExplanation, formatNodeExplanation } from '../../../show/explain/formatExplanation.ts';
import type { Schedule } from '../run/schedule.ts';
import { contradictions } from './contradictions.ts';
import type { Invariant, Watched } from './invariant.ts';

/** A wait may be over for so long before the actor has heard of it: a timer of the same moment comes first. */
const SLACK_MS = 50;

/** A wait for what the clock shows may be over for so long before it is looked at. */
const LOOK_MS = 1_000;

/** Its wait ends when the clock shows that, whatever it is set to meanwhile. */
const goesByClock = ({ tags }: ActorNode): boolean => tags.includes('byWallClock');

/** Whether the actor, or one below it, waits for the answer to a call. */
const isCalling = ({ kind, children }: ActorNode): boolean => kind === 'call' || children.some(isCalling);

/** When a wait ends, and what had failed last when that was worked out. */
interface WaitEnd {
  readonly at: number;
  readonly failedAt: number | undefined;
}

/**
 * When the waits that are shown end, by the time that no jump of the clock changes: what is shown is what the wall clock
 * was to show then as the wait began, and the timer goes on as it was set, but for one that goes by that clock.
 */
class Deadlines {
  readonly #clock: Schedule;
  /** Those of the last look. */
  #ends: ReadonlyMap<string, WaitEnd> = new Map();
  #looked = new Map<string, WaitEnd>();
  #jumpedAt = Number.NEGATIVE_INFINITY;
  /** How far the wall clock was ahead, when it was the least. */
  #leastOffset = Number.POSITIVE_INFINITY;

  constructor(clock: Schedule) {
    this.#clock = clock;
  }

  beginLook(): void {
    this.#ends = this.#looked;
    this.#looked = new Map();
  }

  noteJump(): void {
    const { elapsed, now } = this.#clock;
    this.#jumpedAt = elapsed;
    this.#leastOffset = Math.min(this.#leastOffset, now() - elapsed);
  }

  /** For how long a wait is over by now, in milliseconds; less than nothing where it goes on. */
  overdue(node: ActorNode, until: number): number {
    const { elapsed, now } = this.#clock;
    if (goesByClock(node)) return Math.min(now() - until, elapsed - this.#jumpedAt) - LOOK_MS;
    const { path, state, since, lastFailure } = node;
    const offset = now() - elapsed;
    const key = `${path} ${state} ${since} ${until}`;
    // One of the same length that began when a clock that was set back showed the same once more.
    const isAnother = since - offset >= this.#jumpedAt && since - offset <= elapsed;
    const known = isAnother ? undefined : this.#ends.get(key);
    // A timer that was set by another state, before the clock went ahead: it is over as this state begins to wait for it.
    const began = until < since ? Math.min(offset, this.#leastOffset) : offset;
    const failedAt = lastFailure?.at;
    // The store goes on retrying over several waits: a clock that was set back may have shown this end of one before; and
    // what fails meanwhile moves none.
    const isSame = known?.failedAt === failedAt;
    const at = known && isSame ? known.at : Math.max(until - began, known?.at ?? Number.NEGATIVE_INFINITY);
    this.#looked.set(key, { at, failedAt });
    return elapsed - at;
  }
}

/** What is wrong with an actor or one below it: it neither rests nor works nor says what it waits for. */
function unexplained(node: ActorNode, deadlines: Deadlines): string[] {
  const { path, state, tags, waitingFor, until, children } = node;
  const [tag] = tags;
  const rests = tag === 'steady' || tag === 'done' || tag === 'failed';
  const works = isCalling(node);
  const overdue = until === undefined ? 0 : deadlines.overdue(node, until);
  const waits = waitingFor !== undefined || children.some((child) => child.waitingFor !== undefined);
  return [
    ...(tag === undefined ? [`${path} in ${state} has no tag`] : []),
    ...(tag === 'broken' ? [`${path} is broken`] : []),
    ...(rests || works || waits ? [] : [`${path} in ${state} (${tag}) waits for nothing that has a name`]),
    ...(overdue > SLACK_MS ? [`${path} in ${state} waits until ${overdue} ms ago`] : []),
    ...children.flatMap((child) => unexplained(child, deadlines)),
  ];
}

/** An explanation has no empty line, and none with something that is no text. */
function badLines(text: string): string[] {
  return text.split('\n').flatMap((line, index, all) => {
    const isGap = line.trim() === '' && (index === 0 || all[index + 1]?.trim() === '');
    return isGap || /undefined|NaN|\[object/.test(line) ? [`odd line ${JSON.stringify(line)} in ${text}`] : [];
  });
}

/** What is wrong with what people read of the node itself. */
function wrongOfNode(explanation: NodeExplanation): string[] {
  const text = formatNodeExplanation(explanation);
  return [...(explanation.answer.trim() === '' ? [`there is no answer: ${text}`] : []), ...badLines(text)];
}

const statesOf = ({ machine, state, children }: ActorNode): string =>
  [`${machine}:${state}`, ...children.map(statesOf)].join(' ');

/** The state of a pod with that of each of its actors, one by one. */
const pairsOf = ({ state, children }: ActorNode): string[] => [
  state,
  ...children.map((child) => `${state} ${statesOf(child)}`),
];

/** Looks once at the explanation of each state that a pod comes to be in. */
class Explanations {
  readonly #watched: Watched;
  readonly #violated: (message: string) => void;
  readonly #seen = new Set<string>();
  /** What has changed of pods in this step, by their UIDs. */
  readonly #changed = new Map<string, PodChange>();

  constructor(watched: Watched, violated: (message: string) => void) {
    this.#watched = watched;
    this.#violated = violated;
  }

  noteChange(change: PodChange): void {
    this.#changed.set(change.uid, change);
  }

  /** At the end of a step: nobody can ask in the middle of one. */
  look(): void {
    const isAlive = this.#watched.agent !== undefined;
    for (const [uid, { tree, removed }] of this.#changed) {
      if (isAlive && !removed) this.#explain(uid, pairsOf(tree));
    }
    this.#changed.clear();
  }

  /** How the states of its actors go together is looked at now and then: there are many more of these. */
  lookAtWhole(uid: string, tree: ActorNode): void {
    this.#explain(uid, [statesOf(tree)]);
  }

  #explain(uid: string, states: readonly string[]): void {
    if (states.every((each) => this.#seen.has(each))) return;
    const { agent } = this.#watched;
    const explanation = agent?.explainUid(uid);
    if (explanation === undefined) {
      // That it is gone may be held back until that is saved.
      if (agent?.trees().has(uid)) this.#violated(`there is no explanation of ${uid} in ${states.join(', ')}`);
      return;
    }
    // What is told of a pod may be older than what is known of it, which its explanation is made of.
    const isTold = agent?.untold().includes(uid) === false;
    if (isTold) for (const each of states) this.#seen.add(each);
    const pod = isTold ? agent.pods().find(({ metadata }) => metadata.uid === uid) : undefined;
    const text = formatExplanation(explanation);
    for (const each of [...badLines(text), ...contradictions(explanation, text, pod)]) this.#violated(each);
  }
}

export const explained: Invariant = {
  number: 7,
  says:
    'Each actor that is not final works on a call or waits for something that has a name, no deadline of a wait has ' +
    'passed, and there is an explanation of each state that a pod was ever in, which says nothing that is not so.',
  follow: (watched, violated) => {
    const explanations = new Explanations(watched, violated);
    const deadlines = new Deadlines(watched.host.clock);
    const look = () => {
      const { agent } = watched;
      if (agent === undefined) return;
      deadlines.beginLook();
      const explanation = agent.explainNode();
      // Of a pod this shows only what is asked of the node.
      const children = explanation.node.children.filter(({ machine }) => machine !== 'pod');
      const own = { ...explanation.node, children };
      const trees = agent.trees();
      for (const tree of [own, ...trees.values()]) {
        for (const each of unexplained(tree, deadlines)) violated(each);
      }
      for (const each of wrongOfNode(explanation)) violated(each);
      for (const [uid, tree] of trees) explanations.lookAtWhole(uid, tree);
    };
    const beforeJump = () => {
      look();
      deadlines.noteJump();
    };
    return {
      whole: look,
      beforeJump,
      onStatus: (change) => explanations.noteChange(change),
      afterStep: () => explanations.look(),
    };
  },
};
