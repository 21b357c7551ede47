/** The objects of the API server that the node's pods have in use, held as the configuration says. */
import * as z from 'zod/mini';
import type { Clock } from '../../base/clock.ts';
import { lookUp } from '../../base/lookUp.ts';
import type { FileSystem } from '../../host/files/fileSystem.ts';
import { isInMemory } from '../../host/files/inMemory.ts';
import type { KubeClient } from '../../kubeclient/client.ts';
import type { OwnNode } from '../cluster/node/ownNode.ts';
import { FetchedObject } from './cache/fetchedObject.ts';
import type { HoldObject } from './cache/heldObject.ts';
import { KeptObjects } from './cache/keptObjects.ts';
import { WatchedObject } from './cache/watchedObject.ts';
import { ObjectStore } from './objectStore.ts';

/** How objects are kept up to date: `configMapAndSecretChangeDetectionStrategy` of a kubelet. */
export interface ObjectSettings {
  readonly strategy: 'Watch' | 'Cache' | 'Get';
  /** How often a kubelet looks at each of its pods, in milliseconds. */
  readonly syncMs: number;
  /** In memory: where what was read last outlives the agent; absent: nowhere. */
  readonly keptDirectory?: string;
}

interface ObjectParts {
  readonly client: KubeClient;
  readonly settings: ObjectSettings;
  readonly ownNode: Pick<OwnNode, 'current'>;
  readonly clock: Clock;
  readonly jitter: () => number;
  readonly files: FileSystem;
  /** The UIDs of the pods that have a directory on the node. */
  readonly listPodDirs: () => Promise<readonly string[]>;
  readonly onError: (source: string, error: unknown) => void;
}

/** An object that nobody reads is followed for so many looks at its pods more, and at least a minute. */
const IDLE_SYNCS = 5;
const LEAST_IDLE_MS = 60_000;
const TTL_MS = 60_000;
const TTL_ANNOTATION = 'node.alpha.kubernetes.io/ttl';

export function clusterObjects(parts: ObjectParts): ObjectStore {
  const { settings, clock, files, listPodDirs, onError } = parts;
  const { keptDirectory: directory } = settings;
  const kept = directory === undefined ? undefined : new KeptObjects({ directory, files, isInMemory, onError });
  return new ObjectStore({ strategy: settings.strategy, clock, kept, listPodDirs, onError, hold: holderOf(parts) });
}

function holderOf({ client, settings, ownNode, clock, jitter }: ObjectParts): HoldObject {
  const { strategy, syncMs } = settings;
  if (strategy === 'Watch') {
    const idleMs = Math.max(IDLE_SYNCS * syncMs, LEAST_IDLE_MS);
    return (reference, listeners) => new WatchedObject(reference, { client, clock, jitter, idleMs }, listeners);
  }
  const ttlMs = strategy === 'Get' ? () => 0 : () => ttlOf(ownNode.current) ?? TTL_MS;
  return (reference, listeners) => new FetchedObject(reference, { client, clock, ttlMs, lookMs: syncMs }, listeners);
}

const annotated = z.object({ metadata: z.object({ annotations: z.record(z.string(), z.string()) }) });
const SECONDS = /^\d{1,9}$/;

/** How long the cluster has its nodes go by what they have read, in milliseconds, where it says so. */
function ttlOf(node: unknown): number | undefined {
  const { success, data } = z.safeParse(annotated, node);
  const seconds = success ? lookUp(data.metadata.annotations, TTL_ANNOTATION) : undefined;
  return seconds !== undefined && SECONDS.test(seconds) ? Number(seconds) * 1_000 : undefined;
}
