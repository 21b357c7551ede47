/** What a replay has come to, beside what was written down: both in their order. */
import { isDeepStrictEqual } from 'node:util';
import type { Keyframe } from '../actors/nodeAgent.ts';
import type { Move } from '../actors/status/since.ts';
import { firstDifference } from '../base/firstDifference.ts';
import type { PodStatus } from '../kubernetes/api/schema/status.ts';
import type { Line, StatusLine } from './lines.ts';

/** Where a replay comes to something else than what was written down. */
export interface Difference {
  readonly at: number;
  /** Which actor's state it is, or which pod's status, or which part of that. */
  readonly of: string;
  /** Absent where nothing was written down. */
  readonly recorded?: unknown;
  /** Absent where it comes to nothing. */
  readonly replayed?: unknown;
}

export class Comparison {
  readonly #moves: Move[] = [];
  /** The statuses of each pod that were told and not compared yet, as they are written down: the first one has been. */
  readonly #statuses = new Map<string, unknown[]>();
  /** What the pods are called of which the first of these statuses has been compared. */
  readonly #names = new Map<string, string>();

  /** It goes on from a keyframe, by which all of this had happened: what was held back then, was told after it. */
  beginWith({ statuses, untold = [] }: Keyframe): void {
    const told = [...Object.entries(statuses)].filter(([uid]) => !untold.some((each) => each.uid === uid));
    for (const [uid, status] of told) this.#statuses.set(uid, [status]);
    // Of these nothing is known that was told before it.
    for (const { uid } of untold) this.#statuses.set(uid, [BEFORE]);
    for (const uid of this.#statuses.keys()) this.#names.set(uid, uid);
    for (const { uid, status } of untold) this.tell(uid, status);
  }

  move(move: Move): void {
    this.#moves.push(move);
  }

  tell(uid: string, status: PodStatus | undefined): void {
    const told = this.#statuses.get(uid) ?? [];
    const next = inJson(status);
    // As in what is written down, only another one counts.
    if (told.length === 0 || !isDeepStrictEqual(told.at(-1), next)) told.push(next);
    this.#statuses.set(uid, told);
  }

  /** Undefined where the replay has come to the same. */
  with(line: Line): Difference | undefined {
    if (line.kind === 'status') return this.#status(line);
    if (line.kind === 'ended') return this.#ended(line);
    if (line.kind !== 'state') return undefined;
    const { at, actor, state } = line;
    const next = this.#moves.shift();
    if (next?.actor === actor && next.state === state) return undefined;
    const replayed = next === undefined ? {} : { replayed: `${next.actor} ${next.state}` };
    return { at, of: actor, recorded: state, ...replayed };
  }

  /** A replay tells at once what an agent tells when it is saved, and each of what that tells together. */
  #status({ at, uid, pod, status }: StatusLine): Difference | undefined {
    const told = this.#statuses.get(uid) ?? [];
    this.#names.set(uid, pod);
    const index = told.findIndex((each) => isDeepStrictEqual(each, status));
    if (index >= 0) this.#statuses.set(uid, told.slice(index));
    if (index >= 0) return undefined;
    const { path, one, other } = firstDifference(status, told.at(-1)) ?? { path: '', one: status, other: told.at(-1) };
    return { at, of: `${pod} status${path}`, recorded: one, replayed: other };
  }

  /** Of an agent that was stopped all has been written down that it told: nothing may be left. */
  #ended({ at, untold = [], missed }: Extract<Line, { kind: 'ended' }>): Difference | undefined {
    if (missed) return undefined;
    const [next] = this.#moves;
    if (next !== undefined) return { at, of: next.actor, replayed: next.state };
    for (const [uid, told] of this.#statuses) {
      const pod = this.#names.get(uid);
      // The first one has been compared, where there was one to compare it with.
      if (told.length === (pod === undefined ? 0 : 1) || untold.includes(uid)) continue;
      const { path, one, other } = firstDifference(pod && told[0], told.at(-1)) ?? {
        path: '',
        one: undefined,
        other: told.at(-1),
      };
      return { at, of: `${pod ?? uid} status${path}`, recorded: one, replayed: other };
    }
    return undefined;
  }
}

const BEFORE = 'of before the keyframe';

const inJson = (status: PodStatus | undefined): unknown =>
  status === undefined ? undefined : JSON.parse(JSON.stringify(status));
