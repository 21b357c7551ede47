import type { PodChange } from '../../../../actors/status/statusBoard.ts';
import type { ActorNode } from '../../../../show/actors/actorNode.ts';
import type { NodeExplanation } from '../../../../show/explain/explainNode.ts';
import { formatExplanation, formatNodeExplanation } from '../../../../show/explain/formatExplanation.ts';
import type { Schedule } from '../../run/schedule.ts';
import type { Invariant, Watched } from '../invariant.ts';
import { contradictions } from './contradictions.ts';

/** Tolerance in milliseconds for a wait whose timer is due at the same time as the check. */
const SLACK_MS = 50;

/** Tolerance in milliseconds for a wait until a wall-clock time, which is only checked periodically. */
const CLOCK_CHECK_MS = 1_000;

/** Whether a wait ends at a wall-clock time even if the clock is set. */
const goesByClock = ({ tags }: ActorNode): boolean => tags.includes('byWallClock');

/** Whether the actor, or one of its descendants, waits for the response to a call. */
const isCalling = ({ kind, children }: ActorNode): boolean => kind === 'call' || children.some(isCalling);

/** End of a wait in node time, and the time of the last failure when it was computed. */
interface WaitEnd {
  readonly at: number;
  readonly failedAt: number | undefined;
}

/**
 * Computes the ends of waits in node time. An actor shows the wall-clock time at which its wait was due to end when it
 * started, but later clock changes do not affect its timer, except for waits with the tag `byWallClock`.
 */
class Deadlines {
  readonly #clock: Schedule;
  /** Results of the previous check. */
  #ends: ReadonlyMap<string, WaitEnd> = new Map();
  #checked = new Map<string, WaitEnd>();
  #jumpedAt = Number.NEGATIVE_INFINITY;
  /** Smallest offset of the wall clock from node time so far, in milliseconds. */
  #leastOffset = Number.POSITIVE_INFINITY;

  constructor(clock: Schedule) {
    this.#clock = clock;
  }

  startCheck(): void {
    this.#ends = this.#checked;
    this.#checked = new Map();
  }

  noteJump(): void {
    const { elapsed, now } = this.#clock;
    this.#jumpedAt = elapsed;
    this.#leastOffset = Math.min(this.#leastOffset, now() - elapsed);
  }

  /** Returns by how many milliseconds a wait is overdue. The number is negative if it is not. */
  overdue(node: ActorNode, until: number): number {
    const { elapsed, now } = this.#clock;
    if (goesByClock(node)) return Math.min(now() - until, elapsed - this.#jumpedAt) - CLOCK_CHECK_MS;
    const { path, state, since, lastFailure } = node;
    const offset = now() - elapsed;
    const key = `${path} ${state} ${since} ${until}`;
    // Whether this is a new wait with the same key that started after the clock was set back.
    const isAnother = since - offset >= this.#jumpedAt && since - offset <= elapsed;
    const known = isAnother ? undefined : this.#ends.get(key);
    // The previous state set the timer before the clock was set forward, so it is due as soon as this state is entered.
    const began = until < since ? Math.min(offset, this.#leastOffset) : offset;
    const failedAt = lastFailure?.at;
    // The store retries over several waits, and an earlier one may have had the same end before the clock was set back.
    // A new failure means a new end.
    const isSame = known?.failedAt === failedAt;
    const at = known && isSame ? known.at : Math.max(until - began, known?.at ?? Number.NEGATIVE_INFINITY);
    this.#checked.set(key, { at, failedAt });
    return elapsed - at;
  }
}

/** Returns descriptions of actors that neither rest, nor work, nor have a named wait, and of waits that are overdue. */
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
    ...(rests || works || waits ? [] : [`${path} in ${state} (${tag}) does not name what it waits for`]),
    ...(overdue > SLACK_MS ? [`${path} in ${state} has been overdue for ${overdue} ms`] : []),
    ...children.flatMap((child) => unexplained(child, deadlines)),
  ];
}

/** Returns descriptions of superfluous blank lines and of lines with a formatting error. */
function badLines(text: string): string[] {
  return text.split('\n').flatMap((line, index, all) => {
    const isGap = line.trim() === '' && (index === 0 || all[index + 1]?.trim() === '');
    return isGap || /undefined|NaN|\[object/.test(line) ? [`odd line ${JSON.stringify(line)} in ${text}`] : [];
  });
}

/** Checks the formatted explanation of the node. */
function wrongOfNode(explanation: NodeExplanation): string[] {
  const text = formatNodeExplanation(explanation);
  return [...(explanation.answer.trim() === '' ? [`there is no answer: ${text}`] : []), ...badLines(text)];
}

const statesOf = ({ machine, state, children }: ActorNode): string =>
  [`${machine}:${state}`, ...children.map(statesOf)].join(' ');

/** Returns the state of a pod, and its combinations with the states of each of its actors. */
const pairsOf = ({ state, children }: ActorNode): string[] => [
  state,
  ...children.map((child) => `${state} ${statesOf(child)}`),
];

/** Checks the explanation of each state of a pod once. */
class Explanations {
  readonly #watched: Watched;
  readonly #violated: (message: string) => void;
  readonly #checkedStates = new Set<string>();
  /** Pods that have changed in this step, by UID. */
  readonly #changed = new Map<string, PodChange>();

  constructor(watched: Watched, violated: (message: string) => void) {
    this.#watched = watched;
    this.#violated = violated;
  }

  noteChange(change: PodChange): void {
    this.#changed.set(change.uid, change);
  }

  /** Checks the changed pods at the end of a step, because no client can request an explanation within one. */
  check(): void {
    const isAlive = this.#watched.agent !== undefined;
    for (const [uid, { tree, removed }] of this.#changed) {
      if (isAlive && !removed) this.#explain(uid, pairsOf(tree));
    }
    this.#changed.clear();
  }

  /**
   * Checks the combination of the states of all actors of a pod. There are many combinations, so this is done less
   * often.
   */
  checkWhole(uid: string, tree: ActorNode): void {
    this.#explain(uid, [statesOf(tree)]);
  }

  #explain(uid: string, states: readonly string[]): void {
    if (states.every((each) => this.#checkedStates.has(each))) return;
    const { agent } = this.#watched;
    const explanation = agent?.explainUid(uid);
    if (explanation === undefined) {
      // Without an actor, the pod is gone. Its removal is published only after it has been saved.
      if (agent?.trees().has(uid)) this.#violated(`there is no explanation of ${uid} in ${states.join(', ')}`);
      return;
    }
    // If there are unpublished changes, the published status may be older than the state that is explained.
    const isPublished = agent?.unpublishedUids().includes(uid) === false;
    if (isPublished) for (const each of states) this.#checkedStates.add(each);
    const pod = isPublished ? agent.pods().find(({ metadata }) => metadata.uid === uid) : undefined;
    const text = formatExplanation(explanation);
    for (const each of [...badLines(text), ...contradictions(explanation, text, pod)]) this.#violated(each);
  }
}

export const explained: Invariant = {
  number: 7,
  description:
    'Each actor that is not final works on a call or waits for something that has a name, no wait is overdue, and ' +
    'each state that a pod has been in has an explanation, which says nothing false.',
  follow: (watched, violated) => {
    const explanations = new Explanations(watched, violated);
    const deadlines = new Deadlines(watched.host.clock);
    const check = () => {
      const { agent } = watched;
      if (agent === undefined) return;
      deadlines.startCheck();
      const explanation = agent.explainNode();
      // The explanation of the node has only a summary of each pod, so the pods' own trees are checked instead.
      const children = explanation.node.children.filter(({ machine }) => machine !== 'pod');
      const own = { ...explanation.node, children };
      const trees = agent.trees();
      for (const tree of [own, ...trees.values()]) {
        for (const each of unexplained(tree, deadlines)) violated(each);
      }
      for (const each of wrongOfNode(explanation)) violated(each);
      for (const [uid, tree] of trees) explanations.checkWhole(uid, tree);
    };
    const beforeJump = () => {
      check();
      deadlines.noteJump();
    };
    return {
      whole: check,
      beforeJump,
      onStatus: (change) => explanations.noteChange(change),
      afterStep: () => explanations.check(),
    };
  },
};
