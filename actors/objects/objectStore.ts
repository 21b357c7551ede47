/** Tracks the API server's ConfigMaps and Secrets in use on the node, each object once for all pods. */

import type { Clock } from '../../base/clock.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { ConfigKind, ConfigObject, ConfigReference } from '../../kubernetes/objects/configObject.ts';
import { ObjectNotFound, type ObjectsInUse } from '../../kubernetes/objects/podObjects.ts';
import { referencesOf } from '../../kubernetes/objects/references.ts';
import type { ObjectCounts } from '../../machines/node/objectCounts.ts';
import type { NodeFact } from '../../machines/shared/events.ts';
import { createAlarm } from '../alarm.ts';
import type { PersistedObjects } from './cache/persistedObjects.ts';
import type { TrackedObject, TrackingStep, TrackObject } from './cache/trackedObject.ts';
import { type Lacking, lackingOf } from './objectCounts.ts';
import { ObjectReporter } from './objectReporter.ts';

interface StoreParts {
  readonly track: TrackObject;
  readonly strategy?: ObjectCounts['strategy'];
  readonly clock: Clock;
  /** Persists objects across agent restarts. Undefined disables this. */
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
  /** Undefined if the object exists and is watched. */
  lacking: Lacking | undefined;
  /** Whether a caller has failed to get the object. */
  isAwaited: boolean;
}

interface Entry {
  readonly use: TrackedUse;
  readonly tracked: TrackedObject;
}

const REFRESH_MS = 60_000;

export class ObjectStore implements ObjectsInUse {
  readonly #parts: StoreParts;
  readonly #reporter: ObjectReporter;
  readonly #entries = new Map<string, Entry>();
  /** The objects that each pod uses, by pod UID. */
  readonly #pods = new Map<string, Set<Entry>>();

  constructor(parts: StoreParts) {
    this.#parts = parts;
    this.#reporter = new ObjectReporter(parts.clock, (kind) => this.#stepsOf(kind), parts.strategy);
  }

  /** Completes all writes of persisted objects, and removes their directory if it is empty. */
  async close(): Promise<void> {
    await this.#parts.persistedObjects?.close();
  }

  /** Tracks all objects that the pod references. */
  follow({ metadata: { uid, namespace }, spec }: Pick<Pod, 'metadata' | 'spec'>): void {
    const used = this.#pods.get(uid) ?? new Set();
    this.#pods.set(uid, used);
    for (const { kind, name, isInVolume } of referencesOf({ spec }))
      this.#use({ kind, namespace, name }, { uid, isShown: isInVolume });
  }

  /** Stops tracking objects for the pod. */
  release(uid: string): void {
    this.#reporter.forget(uid);
    for (const entry of this.#pods.get(uid) ?? []) {
      entry.use.users.delete(uid);
      if (entry.use.users.size === 0) this.#untrack(entry);
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
    const { tracked, use } = this.#use({ kind, namespace, name }, { uid, isShown: false });
    try {
      const object = await tracked.read(options);
      if (object !== undefined) return object;
    } catch (error) {
      options.signal.throwIfAborted();
      const stored = await this.#parts.persistedObjects?.read(use.reference);
      if (stored?.uids.includes(uid)) {
        // The persisted version may be outdated. The server's next response replaces it.
        use.object ??= stored.object;
        return stored.object;
      }
      use.isAwaited = true;
      throw error;
    }
    use.isAwaited = true;
    throw new ObjectNotFound(kind, name);
  }

  /** Notifies the node of changes until the signal aborts. */
  async run(send: (fact: NodeFact) => void, { signal }: { readonly signal: AbortSignal }): Promise<void> {
    const { clock, persistedObjects, listPodDirs, onError } = this.#parts;
    this.#reporter.start(send, signal);
    const tidy = async () => persistedObjects?.retainPods(new Set(await listPodDirs()));
    await tidy().catch((error: unknown) => onError('objects', error));
    const alarm = createAlarm(clock, signal);
    while (!signal.aborted) {
      await alarm.wait(clock.now() + REFRESH_MS);
      if (signal.aborted) break;
      for (const { tracked, use } of this.#entries.values()) tracked.refresh([...use.users.values()].includes(true));
    }
    for (const { tracked } of this.#entries.values()) tracked.close();
  }

  #use(reference: ConfigReference, { uid, isShown }: { readonly uid: string; readonly isShown: boolean }): Entry {
    const entry = this.#entries.get(keyOf(reference)) ?? this.#track(reference);
    const { users } = entry.use;
    const isNew = !users.has(uid);
    users.set(uid, isShown || users.get(uid) === true);
    if (isNew) {
      this.#pods.get(uid)?.add(entry);
      entry.tracked.invalidate();
      this.#persist(entry.use);
    }
    return entry;
  }

  #track(reference: ConfigReference): Entry {
    const step = { state: 'reading' } as const;
    const lacking = lackingOf({ step, object: undefined }, this.#parts.clock.now());
    const use: TrackedUse = { reference, users: new Map(), object: undefined, step, lacking, isAwaited: false };
    const tracked = this.#parts.track(reference, {
      onObject: (object) => this.#onObject(use, object),
      onStep: (step) => {
        use.step = step;
        this.#onStep(use);
      },
    });
    const entry = { use, tracked };
    this.#entries.set(keyOf(reference), entry);
    return entry;
  }

  #onStep(use: TrackedUse): void {
    use.lacking = lackingOf(use, this.#parts.clock.now());
    this.#reporter.reportStep(use.reference.kind);
  }

  #untrack({ tracked, use: { reference } }: Entry): void {
    tracked.close();
    this.#entries.delete(keyOf(reference));
    this.#parts.persistedObjects?.forget(reference);
    this.#reporter.reportStep(reference.kind);
  }

  #onObject(use: TrackedUse, object: ConfigObject | undefined): void {
    const before = use.object;
    use.object = object ?? null;
    const hasChanged = before === undefined ? use.isAwaited : versionOf(before) !== versionOf(object);
    if (object !== undefined) use.isAwaited = false;
    if (object === undefined) this.#parts.persistedObjects?.forget(use.reference);
    else this.#persist(use);
    this.#onStep(use);
    if (hasChanged) this.#reporter.notifyPods(use.users.keys());
  }

  #persist({ object, users }: TrackedUse): void {
    if (object) this.#parts.persistedObjects?.put({ object, uids: [...users.keys()] });
  }

  #stepsOf(kind: ConfigKind): TrackedUse[] {
    return [...this.#entries.values()].flatMap(({ use }) => (use.reference.kind === kind ? [use] : []));
  }
}

const keyOf = ({ kind, namespace, name }: ConfigReference): string => `${kind}/${namespace}/${name}`;

const versionOf = (object: ConfigObject | null | undefined): string =>
  object ? `${object.uid}/${object.resourceVersion}` : '';
