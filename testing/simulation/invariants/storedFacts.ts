/** What an agent has saved of pods, as an invariant reads it on the disk: no fault keeps that from it. */
import { PLACES, type SimulatedHost } from '../host/host.ts';

export type FactKind = 'statuses' | 'unacknowledged' | 'allocations';

/** The folder in which the store keeps the facts of a kind. */
export const factsOf = (kind: FactKind): string => `${PLACES.root}/statelet/${kind}`;

/** An end that an agent has left to be told. */
export interface LeftEnd {
  /** Nothing keeps the pod from running again: it was being removed when it ended, or has been since. */
  readonly isOver: boolean;
}

export class StoredFacts {
  readonly #host: SimulatedHost;

  constructor(host: SimulatedHost) {
    this.#host = host;
  }

  /** Whether there is a fact of a pod. */
  has(uid: string, kind: FactKind): boolean {
    return this.#host.files.existsSync(fileOf(uid, kind));
  }

  /** The ends that are left to be told, by uid, whether or not any status of their pods ever was. */
  endsLeft(): Map<string, LeftEnd> {
    const { files } = this.#host;
    const folder = factsOf('unacknowledged');
    const names = files.existsSync(folder) ? files.readdirSync(folder) : [];
    const uids = names.flatMap((name) => (name.endsWith('.json') ? name.slice(0, -'.json'.length) : []));
    return new Map(uids.map((uid) => [uid, { isOver: !this.#isFinal(uid) }]));
  }

  /** Whether the next agent keeps to it that the pod has ended (C2). */
  #isFinal(uid: string): boolean {
    const text = this.#host.files.readFileSync(fileOf(uid, 'unacknowledged'));
    return this.has(uid, 'statuses') || text.includes('"isFinal":true');
  }
}

const fileOf = (uid: string, kind: FactKind): string => `${factsOf(kind)}/${uid}.json`;
