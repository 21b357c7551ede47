/**
 * Persists the objects that are defined by a source's manifests and used by its pods. After a restart of the agent, the
 * persisted objects replace those of a broken or unreadable manifest.
 */
import type { ConfigObject, ConfigReference } from '../../../kubernetes/objects/configObject.ts';
import type { PersistedObjects } from './persistedObjects.ts';

/** A ConfigMap or Secret with the manifest that defines it. */
export interface LocalObject {
  readonly object: ConfigObject;
  readonly file: string;
}

/** A local object with the UIDs of the pods that reference it. */
interface UsedObject extends LocalObject {
  readonly uids: readonly string[];
}

interface PersistedSourceDependencies {
  readonly persistedObjects: Pick<PersistedObjects, 'list' | 'put' | 'forget' | 'retainPods' | 'close'>;
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
  readonly #dependencies: PersistedSourceDependencies;
  /** Keyed by object key. */
  readonly #storedObjects = new Map<string, StoredObject>();
  /** UIDs of pods that existed before the agent's start and for which `confirm` has not been called yet. */
  readonly #unconfirmedUids = new Set<string>();

  constructor(dependencies: PersistedSourceDependencies) {
    this.#dependencies = dependencies;
  }

  /** Returns the objects that the previous agent stored for existing pods, by manifest. */
  async read(): Promise<ReadonlyMap<string, readonly ConfigObject[]>> {
    const { persistedObjects, listPodDirs, onError } = this.#dependencies;
    try {
      await persistedObjects.retainPods(new Set(await listPodDirs()));
      const entries = await persistedObjects.list();
      for (const { object, uids, file = '' } of entries) {
        this.#storedObjects.set(referenceKey(object), {
          reference: object,
          uids,
          version: serializeVersion({ object, uids, file }),
        });
        for (const uid of uids) this.#unconfirmedUids.add(uid);
      }
      const byFile = Map.groupBy(entries, ({ file = '' }) => file);
      return new Map(Array.from(byFile, ([file, fileEntries]) => [file, fileEntries.map(({ object }) => object)]));
    } catch (error) {
      onError('objects', error);
      return new Map();
    }
  }

  /** Must be called as soon as it is known whether the pod still exists. */
  confirm(uid: string): void {
    this.#unconfirmedUids.delete(uid);
  }

  /** Stores the objects that pods reference, and removes all others. */
  putAll(objects: ReadonlyMap<string, UsedObject>): void {
    const { persistedObjects } = this.#dependencies;
    for (const [key, { reference }] of this.#storedObjects) {
      if (objects.has(key)) continue;
      persistedObjects.forget(reference);
      this.#storedObjects.delete(key);
    }
    for (const [key, { object, file, uids }] of objects) {
      const waitingUids = this.#storedObjects.get(key)?.uids.filter((uid) => this.#unconfirmedUids.has(uid)) ?? [];
      this.#putObject(key, { object, file, uids: [...new Set([...waitingUids, ...uids])].sort() });
    }
  }

  /** Completes all writes, and removes the directory if it is empty. */
  close = (): Promise<void> => this.#dependencies.persistedObjects.close();

  #putObject(key: string, used: UsedObject): void {
    const { persistedObjects } = this.#dependencies;
    const { object, uids } = used;
    const previousObject = this.#storedObjects.get(key);
    if (uids.length === 0) {
      if (previousObject !== undefined) persistedObjects.forget(object);
      this.#storedObjects.delete(key);
      return;
    }
    const version = serializeVersion(used);
    if (previousObject?.version !== version) persistedObjects.put(used);
    this.#storedObjects.set(key, { reference: object, uids, version });
  }
}

export const referenceKey = ({ kind, namespace, name }: ConfigReference): string => `${kind}/${namespace}/${name}`;

const serializeVersion = ({ object: { uid, resourceVersion }, file, uids }: UsedObject): string =>
  JSON.stringify([uid, resourceVersion, file, [...uids].sort()]);
