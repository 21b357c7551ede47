/**
 * Persists the objects of one source's manifests that pods use. After a restart of the agent, the persisted objects are
 * used instead of those of a broken or unreadable manifest.
 */
import type { ConfigObject, ConfigReference } from '../../../kubernetes/objects/configObject.ts';
import type { PersistedObjects } from './persistedObjects.ts';

/** An object with its manifest. */
export interface LocalObject {
  readonly object: ConfigObject;
  readonly file: string;
}

/** A local object with the UIDs of the pods that reference it. */
interface UsedObject extends LocalObject {
  readonly uids: readonly string[];
}

interface Parts {
  readonly persistedObjects: Pick<PersistedObjects, 'all' | 'put' | 'forget' | 'retainPods' | 'close'>;
  /** Returns the UIDs of the pods that have a directory on the node. */
  readonly listPodDirs: () => Promise<readonly string[]>;
  readonly onError: (source: string, error: unknown) => void;
}

interface StoredObject {
  readonly reference: ConfigReference;
  readonly uids: readonly string[];
  /** Version of the written data, which includes the object, its manifest and its pods. */
  readonly version: string;
}

export class PersistedSourceObjects {
  readonly #parts: Parts;
  /** Keyed by object key. */
  readonly #stored = new Map<string, StoredObject>();
  /** UIDs of pods that existed before the agent's start and have not been confirmed yet. */
  readonly #unconfirmed = new Set<string>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Returns the objects that the previous agent stored for existing pods, by manifest. */
  async read(): Promise<ReadonlyMap<string, readonly ConfigObject[]>> {
    const { persistedObjects, listPodDirs, onError } = this.#parts;
    try {
      await persistedObjects.retainPods(new Set(await listPodDirs()));
      const all = await persistedObjects.all();
      for (const { object, uids, file = '' } of all) {
        this.#stored.set(keyOf(object), { reference: object, uids, version: versionOf({ object, uids, file }) });
        for (const uid of uids) this.#unconfirmed.add(uid);
      }
      const byFile = Map.groupBy(all, ({ file = '' }) => file);
      return new Map(Array.from(byFile, ([file, found]) => [file, found.map(({ object }) => object)]));
    } catch (error) {
      onError('objects', error);
      return new Map();
    }
  }

  /** Must be called once it is known whether the pod still exists. */
  confirm(uid: string): void {
    this.#unconfirmed.delete(uid);
  }

  /** Stores the objects that pods reference, and removes all others. */
  putAll(objects: ReadonlyMap<string, UsedObject>): void {
    const { persistedObjects } = this.#parts;
    for (const [key, { reference }] of this.#stored) {
      if (objects.has(key)) continue;
      persistedObjects.forget(reference);
      this.#stored.delete(key);
    }
    for (const [key, { object, file, uids }] of objects) {
      const waiting = this.#stored.get(key)?.uids.filter((uid) => this.#unconfirmed.has(uid)) ?? [];
      this.#put(key, { object, file, uids: [...new Set([...waiting, ...uids])].sort() });
    }
  }

  /** Completes all writes, and removes the directory if it is empty. */
  close = (): Promise<void> => this.#parts.persistedObjects.close();

  #put(key: string, used: UsedObject): void {
    const { persistedObjects } = this.#parts;
    const { object, uids } = used;
    const before = this.#stored.get(key);
    if (uids.length === 0) {
      if (before !== undefined) persistedObjects.forget(object);
      this.#stored.delete(key);
      return;
    }
    const version = versionOf(used);
    if (before?.version !== version) persistedObjects.put(used);
    this.#stored.set(key, { reference: object, uids, version });
  }
}

export const keyOf = ({ kind, namespace, name }: ConfigReference): string => `${kind}/${namespace}/${name}`;

const versionOf = ({ object: { uid, resourceVersion }, file, uids }: UsedObject): string =>
  JSON.stringify([uid, resourceVersion, file, [...uids].sort()]);
