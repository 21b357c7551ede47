/**
 * Tracks the ConfigMaps and Secrets on the API server that the node's pods use. Each object is tracked only once, even
 * if several pods use it.
 */

import type { Clock } from '../../base/time/clock.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { ConfigKind, ConfigObject, ConfigReference } from '../../kubernetes/objects/configObject.ts';
import { ObjectNotFound, type ObjectsInUse } from '../../kubernetes/objects/podObjects.ts';
import { referencesOf } from '../../kubernetes/objects/references.ts';
import type { ObjectCounts } from '../../machines/node/cluster/objectCounts.ts';
import type { NodeFact } from '../../machines/shared/events/events.ts';
import { createAlarm } from '../alarm.ts';
import type { PersistedObjects } from './cache/persistedObjects.ts';
import type { TrackedObject, TrackingStep, TrackObject } from './cache/trackedObject.ts';
import { findMissing, type MissingObject } from './objectCounts.ts';
import { ObjectReporter } from './objectReporter.ts';

interface ObjectStoreDependencies {
  readonly trackObject: TrackObject;
  readonly strategy?: ObjectCounts['strategy'];
  readonly clock: Clock;
  /** Persists objects across agent restarts. If undefined, objects are not persisted. */
  readonly persistedObjects?: Pick<PersistedObjects, 'read' | 'put' | 'forget' | 'retainPods' | 'close'> | undefined;
  /** Returns the UIDs of all pods with a directory on the node, including pods that the agent does not know. */
  readonly listPodDirs: () => Promise<readonly string[]>;
  readonly onError: (source: string, error: unknown) => void;
}

/** An object with the pods that use it. */
interface TrackedUse {
  readonly reference: ConfigReference;
  /** Keyed by pod UID. True if a volume of the pod contains the object. */
  readonly users: Map<string, boolean>;
  /** The last known version. Null if the object does not exist, undefined if the server has not responded. */
  object: ConfigObject | null | undefined;
  step: TrackingStep;
  /** Undefined if the object exists and can be read. */
  missing: MissingObject | undefined;
  /** Whether an attempt to read the object has failed. */
  hasReadFailed: boolean;
}

interface StoreEntry {
  readonly use: TrackedUse;
  readonly trackedObject: TrackedObject;
}

const REFRESH_MS = 60_000;

export class ObjectStore implements ObjectsInUse {
  readonly #dependencies: ObjectStoreDependencies;
  readonly #reporter: ObjectReporter;
  readonly #entries = new Map<string, StoreEntry>();
  /** The objects that each pod uses, by pod UID. */
  readonly #pods = new Map<string, Set<StoreEntry>>();

  constructor(dependencies: ObjectStoreDependencies) {
    this.#dependencies = dependencies;
    this.#reporter = new ObjectReporter(dependencies.clock, (kind) => this.#usesOfKind(kind), dependencies.strategy);
  }

  /** Completes all writes of persisted objects, and removes their directory if it is empty. */
  async close(): Promise<void> {
    await this.#dependencies.persistedObjects?.close();
  }

  /** Tracks all objects that the pod references. */
  follow({ metadata: { uid, namespace }, spec }: Pick<Pod, 'metadata' | 'spec'>): void {
    const usedKeys = this.#pods.get(uid) ?? new Set();
    this.#pods.set(uid, usedKeys);
    for (const { kind, name, isInVolume } of referencesOf({ spec }))
      this.#useObject({ kind, namespace, name }, { uid, isShown: isInVolume });
  }

  /** Stops tracking objects for the pod. */
  release(uid: string): void {
    this.#reporter.forget(uid);
    for (const entry of this.#pods.get(uid) ?? []) {
      entry.use.users.delete(uid);
      if (entry.use.users.size === 0) this.#untrackObject(entry);
      else this.#persist(entry.use);
    }
    this.#pods.delete(uid);
  }

  async get(
    pod: Pod,
    kind: ConfigKind,
    name: string,
    options: { readonly signal: AbortSignal },
  ): Promise<ConfigObject> {
    const { uid, namespace } = pod.metadata;
    if (!this.#pods.has(uid)) throw new Error(`object "${namespace}"/"${name}" not registered`);
    const { trackedObject, use } = this.#useObject({ kind, namespace, name }, { uid, isShown: false });
    try {
      const object = await trackedObject.read(options);
      if (object !== undefined) return object;
    } catch (error) {
      options.signal.throwIfAborted();
      const storedObject = await this.#dependencies.persistedObjects?.read(use.reference);
      if (storedObject?.uids.includes(uid)) {
        // The persisted version may be outdated. The server's next response replaces it.
        use.object ??= storedObject.object;
        return storedObject.object;
      }
      use.hasReadFailed = true;
      throw error;
    }
    use.hasReadFailed = true;
    throw new ObjectNotFound(kind, name);
  }

  /** Notifies the node of changes until the signal aborts. */
  async run(send: (fact: NodeFact) => void, { signal }: { readonly signal: AbortSignal }): Promise<void> {
    const { clock, persistedObjects, listPodDirs, onError } = this.#dependencies;
    this.#reporter.start(send, signal);
    const removeUnusedObjects = async () => persistedObjects?.retainPods(new Set(await listPodDirs()));
    await removeUnusedObjects().catch((error: unknown) => onError('objects', error));
    const alarm = createAlarm(clock, signal);
    while (!signal.aborted) {
      await alarm.waitUntil(clock.now() + REFRESH_MS);
      if (signal.aborted) break;
      for (const { trackedObject, use } of this.#entries.values())
        trackedObject.refresh([...use.users.values()].includes(true));
    }
    for (const { trackedObject } of this.#entries.values()) trackedObject.close();
  }

  #useObject(
    reference: ConfigReference,
    { uid, isShown }: { readonly uid: string; readonly isShown: boolean },
  ): StoreEntry {
    const storeEntry = this.#entries.get(referenceKey(reference)) ?? this.#trackObject(reference);
    const { users } = storeEntry.use;
    const isNewUser = !users.has(uid);
    users.set(uid, isShown || users.get(uid) === true);
    if (isNewUser) {
      this.#pods.get(uid)?.add(storeEntry);
      storeEntry.trackedObject.invalidate();
      this.#persist(storeEntry.use);
    }
    return storeEntry;
  }

  #trackObject(reference: ConfigReference): StoreEntry {
    const initialStep = { state: 'reading' } as const;
    const missing = findMissing({ step: initialStep, object: undefined }, this.#dependencies.clock.now());
    const use: TrackedUse = {
      reference,
      users: new Map(),
      object: undefined,
      step: initialStep,
      missing: missing,
      hasReadFailed: false,
    };
    const trackedObject = this.#dependencies.trackObject(reference, {
      onObject: (object) => this.#onObject(use, object),
      onStep: (step) => {
        use.step = step;
        this.#onStep(use);
      },
    });
    const storeEntry = { use, trackedObject };
    this.#entries.set(referenceKey(reference), storeEntry);
    return storeEntry;
  }

  #onStep(use: TrackedUse): void {
    use.missing = findMissing(use, this.#dependencies.clock.now());
    this.#reporter.reportStep(use.reference.kind);
  }

  #untrackObject({ trackedObject, use: { reference } }: StoreEntry): void {
    trackedObject.close();
    this.#entries.delete(referenceKey(reference));
    this.#dependencies.persistedObjects?.forget(reference);
    this.#reporter.reportStep(reference.kind);
  }

  #onObject(use: TrackedUse, object: ConfigObject | undefined): void {
    const previousObject = use.object;
    use.object = object ?? null;
    const hasChanged =
      previousObject === undefined ? use.hasReadFailed : objectVersion(previousObject) !== objectVersion(object);
    if (object !== undefined) use.hasReadFailed = false;
    if (object === undefined) this.#dependencies.persistedObjects?.forget(use.reference);
    else this.#persist(use);
    this.#onStep(use);
    if (hasChanged) this.#reporter.notifyPods(use.users.keys());
  }

  #persist({ object, users }: TrackedUse): void {
    if (object) this.#dependencies.persistedObjects?.put({ object, uids: [...users.keys()] });
  }

  #usesOfKind(kind: ConfigKind): TrackedUse[] {
    return [...this.#entries.values()].flatMap(({ use }) => (use.reference.kind === kind ? [use] : []));
  }
}

const referenceKey = ({ kind, namespace, name }: ConfigReference): string => `${kind}/${namespace}/${name}`;

const objectVersion = (object: ConfigObject | null | undefined): string =>
  object ? `${object.uid}/${object.resourceVersion}` : '';
