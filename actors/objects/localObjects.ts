/** Provides the ConfigMaps and Secrets from manifests. The pods of a source only use objects of the same source. */

import type { Clock } from '../../base/time/clock.ts';
import type { FileSystem } from '../../host/files/fileSystem.ts';
import { isInMemory } from '../../host/files/inMemory.ts';
import { sourceOf } from '../../kubernetes/api/pods/staticPod.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { ConfigKind, ConfigObject } from '../../kubernetes/objects/configObject.ts';
import { ObjectNotFound, type ObjectsInUse } from '../../kubernetes/objects/podObjects.ts';
import { referencesOf } from '../../kubernetes/objects/references.ts';
import type { NodeFact } from '../../machines/shared/events/events.ts';
import { PersistedObjects } from './cache/persistedObjects.ts';
import { type LocalObject, PersistedSourceObjects, referenceKey } from './cache/persistedSourceObjects.ts';
import { ObjectReporter } from './objectReporter.ts';

type ObjectsByKey = ReadonlyMap<string, LocalObject>;

/** The objects that a pod of a source references. */
interface PodReferences {
  readonly source: string;
  readonly objectKeys: Set<string>;
  /** Whether an attempt to read an object has failed because the source had not been read yet. */
  wasReadEarly: boolean;
}

interface LocalObjectDependencies {
  readonly clock: Clock;
  readonly files: FileSystem;
  /** Returns the UIDs of the pods that have a directory on the node. */
  readonly listPodDirs: () => Promise<readonly string[]>;
  readonly onError: (source: string, error: unknown) => void;
}

/** The directory, file or URL of each source, by the source's name. */
type SourceLocations = ReadonlyMap<string, string>;

/**
 * Creates the provider of the ConfigMaps and Secrets that the manifests of each source define. If `directory` is
 * defined, the objects in use are cached across agent restarts, in a tmpfs directory per source whose path is
 * `directory`, a hyphen and the name of the source.
 */
export function createLocalObjects(
  sources: SourceLocations,
  directory: string | undefined,
  { clock, files, listPodDirs, onError }: LocalObjectDependencies,
): LocalObjects {
  if (directory === undefined) return new LocalObjects(sources, clock);
  const createPersistedObjects = (source: string) => {
    const persistedObjects = new PersistedObjects({ directory: `${directory}-${source}`, files, isInMemory, onError });
    return [source, new PersistedSourceObjects({ persistedObjects, listPodDirs, onError })] as const;
  };
  return new LocalObjects(sources, clock, new Map([...sources.keys()].map(createPersistedObjects)));
}

export class LocalObjects implements ObjectsInUse {
  /** Keyed by source. Undefined until the source has been read. */
  readonly #sources: Map<string, ObjectsByKey | undefined>;
  /** Keyed by UID. */
  readonly #pods = new Map<string, PodReferences>();
  readonly #reporter: ObjectReporter;
  readonly #persistedBySource: ReadonlyMap<string, PersistedSourceObjects>;
  readonly #sourceLocations: SourceLocations;

  /** `persistedBySource` contains the persisted objects of each source. */
  constructor(
    sourceLocations: SourceLocations,
    clock: Clock,
    persistedBySource: ReadonlyMap<string, PersistedSourceObjects> = new Map(),
  ) {
    this.#sourceLocations = sourceLocations;
    this.#sources = new Map(Array.from(sourceLocations.keys(), (source) => [source, undefined]));
    this.#reporter = new ObjectReporter(clock, () => []);
    this.#persistedBySource = persistedBySource;
  }

  /** Notifies the node of pods whose objects have changed, until the signal aborts. */
  start(send: (fact: NodeFact) => void, signal: AbortSignal): void {
    this.#reporter.start(send, signal);
  }

  /**
   * Returns the persisted objects of a source that pods used before the restart, by manifest. Must be called once,
   * before the first `put` of the source.
   */
  async previousObjects(source: string): Promise<ReadonlyMap<string, readonly ConfigObject[]>> {
    return (await this.#persistedBySource.get(source)?.read()) ?? new Map();
  }

  /** Replaces all objects of a source. */
  put(source: string, objects: readonly LocalObject[]): void {
    const previousObjects = this.#sources.get(source);
    const now = new Map(objects.map((each) => [referenceKey(each.object), each]));
    this.#sources.set(source, now);
    const objectVersion = (objects: ObjectsByKey | undefined, key: string) => objects?.get(key)?.object.resourceVersion;
    const hasVersionChanged = (key: string) => objectVersion(previousObjects, key) !== objectVersion(now, key);
    const uids: string[] = [];
    for (const [uid, followed] of this.#pods) {
      if (followed.source !== source) continue;
      if (followed.wasReadEarly || [...followed.objectKeys].some(hasVersionChanged)) uids.push(uid);
      followed.wasReadEarly = false;
    }
    if (uids.length > 0) this.#reporter.notifyPods(uids);
    this.#persist(source);
  }

  follow(pod: Pod): void {
    const { uid, namespace } = pod.metadata;
    const referenceKeys = referencesOf(pod).map(({ kind, name }) => referenceKey({ kind, namespace, name }));
    const { wasReadEarly = false } = this.#pods.get(uid) ?? {};
    const source = sourceOf(pod) ?? '';
    this.#pods.set(uid, { source, objectKeys: new Set(referenceKeys), wasReadEarly });
    this.#persistedBySource.get(source)?.confirm(uid);
    this.#persist(source);
  }

  release(uid: string): void {
    this.#pods.delete(uid);
    this.#reporter.forget(uid);
    for (const [source, persistedObjects] of this.#persistedBySource) {
      persistedObjects.confirm(uid);
      this.#persist(source);
    }
  }

  async get(
    pod: Pod,
    kind: ConfigKind,
    name: string,
    { signal }: { readonly signal: AbortSignal },
  ): Promise<ConfigObject> {
    signal.throwIfAborted();
    const { uid, namespace } = pod.metadata;
    const source = sourceOf(pod) ?? '';
    const key = referenceKey({ kind, namespace, name });
    const followedPod = this.#pods.get(uid);
    followedPod?.objectKeys.add(key);
    const objects = this.#sources.get(source);
    if (objects === undefined && this.#sources.has(source)) {
      if (followedPod) followedPod.wasReadEarly = true;
      throw new Error(`the manifests that ${kind.toLowerCase()} "${name}" may be in have not been read yet`);
    }
    const object = objects?.get(key);
    if (object === undefined) throw new ObjectNotFound(kind, name, this.#sourceLocations.get(source));
    return object.object;
  }

  /** Completes all writes, and removes the directories that are empty. */
  async close(): Promise<void> {
    await Promise.all([...this.#persistedBySource.values()].map((persisted) => persisted.close()));
  }

  /**
   * Persists the objects that pods of the source reference. Until the source has been read, no object is considered
   * removed.
   */
  #persist(source: string): void {
    const [persisted, objects] = [this.#persistedBySource.get(source), this.#sources.get(source)];
    if (persisted === undefined || objects === undefined) return;
    const users = new Map(Array.from(objects.keys(), (key) => [key, [] as string[]]));
    for (const [uid, followed] of this.#pods)
      if (followed.source === source) for (const key of followed.objectKeys) users.get(key)?.push(uid);
    persisted.putAll(new Map(Array.from(objects, ([key, each]) => [key, { ...each, uids: users.get(key) ?? [] }])));
  }
}
