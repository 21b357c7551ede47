/** Provides the API server's ConfigMaps and Secrets that the node's pods use, cached as configured. */
import * as z from 'zod/mini';
import type { Clock } from '../../base/time/clock.ts';
import { lookUp } from '../../base/values/lookUp.ts';
import type { FileSystem } from '../../host/files/fileSystem.ts';
import { isInMemory } from '../../host/files/inMemory.ts';
import type { KubeClient } from '../../kubeclient/client.ts';
import type { OwnNode } from '../cluster/node/ownNode.ts';
import { FetchedObject } from './cache/fetchedObject.ts';
import { PersistedObjects } from './cache/persistedObjects.ts';
import type { TrackObject } from './cache/trackedObject.ts';
import { WatchedObject } from './cache/watchedObject.ts';
import { ObjectStore } from './objectStore.ts';

/** Settings for refreshing objects (the kubelet's `configMapAndSecretChangeDetectionStrategy`). */
export interface ObjectSettings {
  readonly strategy: 'Watch' | 'Cache' | 'Get';
  /** Interval at which the kubelet syncs pods, in milliseconds. */
  readonly syncMs: number;
  /** tmpfs directory that caches the objects across agent restarts. If undefined, the objects are not cached. */
  readonly cacheDirectory?: string;
}

interface ClusterObjectDependencies {
  readonly client: KubeClient;
  readonly settings: ObjectSettings;
  readonly ownNode: Pick<OwnNode, 'current'>;
  readonly clock: Clock;
  readonly jitter: () => number;
  readonly files: FileSystem;
  /** Returns the UIDs of the pods that have a directory on the node. */
  readonly listPodDirs: () => Promise<readonly string[]>;
  readonly onError: (source: string, error: unknown) => void;
}

/** Number of sync intervals for which an object is watched after its last read. The watch lasts at least a minute. */
const IDLE_SYNCS = 5;
const MIN_IDLE_MS = 60_000;
const TTL_MS = 60_000;
const TTL_ANNOTATION = 'node.alpha.kubernetes.io/ttl';

export function clusterObjects(dependencies: ClusterObjectDependencies): ObjectStore {
  const { settings, clock, files, listPodDirs, onError } = dependencies;
  const { cacheDirectory: directory } = settings;
  const persistedObjects =
    directory === undefined ? undefined : new PersistedObjects({ directory, files, isInMemory, onError });
  return new ObjectStore({
    strategy: settings.strategy,
    clock,
    persistedObjects,
    listPodDirs,
    onError,
    trackObject: createTracker(dependencies),
  });
}

function createTracker({ client, settings, ownNode, clock, jitter }: ClusterObjectDependencies): TrackObject {
  const { strategy, syncMs } = settings;
  if (strategy === 'Watch') {
    const idleMs = Math.max(IDLE_SYNCS * syncMs, MIN_IDLE_MS);
    return (reference, listeners) => new WatchedObject(reference, { client, clock, jitter, idleMs }, listeners);
  }
  const ttlMs = strategy === 'Get' ? () => 0 : () => readTtl(ownNode.current) ?? TTL_MS;
  return (reference, listeners) => new FetchedObject(reference, { client, clock, ttlMs, refreshMs: syncMs }, listeners);
}

const annotationsSchema = z.object({ metadata: z.object({ annotations: z.record(z.string(), z.string()) }) });
const SECONDS_PATTERN = /^\d{1,9}$/;

/**
 * Returns how long the Node's TTL annotation allows objects to be cached, in milliseconds. Undefined if the Node has no
 * such annotation.
 */
function readTtl(node: unknown): number | undefined {
  const { success, data } = z.safeParse(annotationsSchema, node);
  const seconds = success ? lookUp(data.metadata.annotations, TTL_ANNOTATION) : undefined;
  return seconds !== undefined && SECONDS_PATTERN.test(seconds) ? Number(seconds) * 1_000 : undefined;
}
