/** Kinds of facts that an agent saves on disk. */
import { PATHS, type SimulatedHost } from '../../host/host.ts';

export type FactKind = 'statuses' | 'unacknowledged' | 'allocations';

/** Returns the directory of the facts of a kind. */
export const factsOf = (kind: FactKind): string => `${PATHS.root}/statelet/${kind}`;

/** The end of a pod that has not been sent to the API server yet. */
export interface UnsentEnd {
  /** Whether the pod may run again, because it was being removed when it ended or has been removed since. */
  readonly isOver: boolean;
}

export class StoredFacts {
  readonly #host: SimulatedHost;

  constructor(host: SimulatedHost) {
    this.#host = host;
  }

  /** Whether the disk has a fact of this kind about a pod. */
  has(uid: string, kind: FactKind): boolean {
    return this.#host.files.existsSync(fileOf(uid, kind));
  }

  /** Returns the unsent ends by pod UID, including those of pods without any published status. */
  unsentEnds(): Map<string, UnsentEnd> {
    const { files } = this.#host;
    const folder = factsOf('unacknowledged');
    const names = files.existsSync(folder) ? files.readdirSync(folder) : [];
    const uids = names.flatMap((name) => (name.endsWith('.json') ? name.slice(0, -'.json'.length) : []));
    return new Map(uids.map((uid) => [uid, { isOver: !this.#isFinal(uid) }]));
  }

  /** Whether the next agent treats the end of the pod as final (C2). */
  #isFinal(uid: string): boolean {
    const text = this.#host.files.readFileSync(fileOf(uid, 'unacknowledged'));
    return this.has(uid, 'statuses') || text.includes('"isFinal":true');
  }
}

const fileOf = (uid: string, kind: FactKind): string => `${factsOf(kind)}/${uid}.json`;
