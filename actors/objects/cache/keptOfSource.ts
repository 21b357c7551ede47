/**
 * What pods that run have of the manifests of one source, kept over a restart of the agent as what they have of an API
 * server is: of a manifest that is broken then, or cannot be read, it stands as the last good version.
 */
import type { ConfigObject, ConfigReference } from '../../../kubernetes/objects/configObject.ts';
import type { KeptObjects } from './keptObjects.ts';

/** An object, and the manifest that it is of. */
export interface LocalObject {
  readonly object: ConfigObject;
  readonly file: string;
}

/** One with the pods that name it. */
interface UsedObject extends LocalObject {
  readonly uids: readonly string[];
}

interface Parts {
  readonly kept: Pick<KeptObjects, 'all' | 'keep' | 'forget' | 'keepOnly'>;
  /** The UIDs of the pods that have a directory on the node. */
  readonly listPodDirs: () => Promise<readonly string[]>;
  readonly onError: (source: string, error: unknown) => void;
}

interface Written {
  readonly reference: ConfigReference;
  readonly uids: readonly string[];
  /** Of all that is written. */
  readonly version: string;
}

export class KeptOfSource {
  readonly #parts: Parts;
  /** By key. */
  readonly #written = new Map<string, Written>();
  /** Pods of before the start that nobody has told anything of yet. */
  readonly #unheard = new Set<string>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** What the agent before has kept for the pods that there are, by its manifest. */
  async read(): Promise<ReadonlyMap<string, readonly ConfigObject[]>> {
    const { kept, listPodDirs, onError } = this.#parts;
    try {
      await kept.keepOnly(new Set(await listPodDirs()));
      const all = await kept.all();
      for (const { object, uids, file = '' } of all) {
        this.#written.set(keyOf(object), { reference: object, uids, version: versionOf({ object, uids, file }) });
        for (const uid of uids) this.#unheard.add(uid);
      }
      const byFile = Map.groupBy(all, ({ file = '' }) => file);
      return new Map(Array.from(byFile, ([file, found]) => [file, found.map(({ object }) => object)]));
    } catch (error) {
      onError('objects', error);
      return new Map();
    }
  }

  /** The pod is there, or is gone. */
  hear(uid: string): void {
    this.#unheard.delete(uid);
  }

  /** Keeps what pods name of all that there is, by `keyOf`, and nothing else. */
  keep(there: ReadonlyMap<string, UsedObject>): void {
    const { kept } = this.#parts;
    for (const [key, { reference }] of this.#written) {
      if (there.has(key)) continue;
      kept.forget(reference);
      this.#written.delete(key);
    }
    for (const [key, { object, file, uids }] of there) {
      const waiting = this.#written.get(key)?.uids.filter((uid) => this.#unheard.has(uid)) ?? [];
      this.#put(key, { object, file, uids: [...new Set([...waiting, ...uids])].sort() });
    }
  }

  #put(key: string, used: UsedObject): void {
    const { kept } = this.#parts;
    const { object, uids } = used;
    const before = this.#written.get(key);
    if (uids.length === 0) {
      if (before !== undefined) kept.forget(object);
      this.#written.delete(key);
      return;
    }
    const version = versionOf(used);
    if (before?.version !== version) kept.keep(used);
    this.#written.set(key, { reference: object, uids, version });
  }
}

export const keyOf = ({ kind, namespace, name }: ConfigReference): string => `${kind}/${namespace}/${name}`;

const versionOf = ({ object: { uid, resourceVersion }, file, uids }: UsedObject): string =>
  JSON.stringify([uid, resourceVersion, file, [...uids].sort()]);
