/**
 * Defines the facts that must survive a restart of the agent and can be read neither from the runtime nor from the
 * sources.
 */
import * as z from 'zod/mini';
import { hostFiles } from '../../host/files/fileSystem.ts';
import type { HostPort } from '../../kubernetes/admission/refusal.ts';
import { resourceRequirementsSchema } from '../../kubernetes/api/schema/container.ts';
import { type Pod, podSchema } from '../../kubernetes/api/schema/pod.ts';
import type { PodStatus } from '../../kubernetes/api/schema/status.ts';
import { type Allocation, allocationFromCheckpoints } from '../../kubernetes/resources/allocation.ts';
import type { PodResources } from '../../kubernetes/resources/resize.ts';
import type { ContainerEnds } from '../../kubernetes/status/view.ts';
import type { ProbeResults } from '../../machines/container/context.ts';
import type { StoredManifest } from '../sources/manifest/manifestSet.ts';
import {
  type CheckpointedResources,
  type ResourceCheckpoints,
  readResourceCheckpoints,
} from './resourceCheckpoints.ts';
import { type FactStore, openStore, type StoreOptions } from './store.ts';

/**
 * Creates the schema of a stored object from the schemas of all of its fields. A field without a schema would be written
 * to the disk and be lost when a later agent reads it.
 */
const storedObject =
  <Stored extends object>() =>
  (fields: { readonly [Field in keyof Required<Stored>]: z.ZodMiniType }) =>
    // The schemas of the fields are less strict than their types, because only this agent writes the files.
    z.object(fields) as unknown as z.ZodMiniType<Stored>;

const hostPortSchema = storedObject<HostPort>()({
  port: z.int(),
  protocol: z.enum(['TCP', 'UDP', 'SCTP']),
  hostIp: z.string(),
});

const podResourcesSchema = storedObject<PodResources>()({
  pod: z.optional(resourceRequirementsSchema),
  containers: z.record(z.string(), resourceRequirementsSchema),
});
const containerStateSchema = z.looseObject({ terminated: z.optional(z.looseObject({ exitCode: z.int() })) });
const endedContainerSchema = z.looseObject({
  name: z.string(),
  restartCount: z.int(),
  state: containerStateSchema,
  lastState: containerStateSchema,
});

const factSchemas = {
  /** The last valid version of each manifest, keyed by file. */
  manifests: z.pipe(
    // Older versions stored a single pod in a field `pod`, and the oldest ones stored the bare pod.
    z.transform((stored: unknown) => {
      if (typeof stored !== 'object' || stored === null) return stored;
      if ('spec' in stored) return { pods: [stored] };
      return 'pod' in stored ? { ...stored, pods: [stored.pod] } : stored;
    }),
    storedObject<StoredManifest>()({ pods: z.array(podSchema), digest: z.optional(z.string()) }),
  ),
  /** The pods of the last valid response from a manifest URL, keyed by URL. */
  fetched: z.array(podSchema) as unknown as z.ZodMiniType<readonly Pod[]>,
  /** Terminal statuses, keyed by pod UID. */
  statuses: z.looseObject({ phase: z.enum(['Succeeded', 'Failed']) }) as unknown as z.ZodMiniType<PodStatus>,
  /** Terminal statuses that a sink has not acknowledged yet, keyed by the UID of a pod that may have been removed. */
  unacknowledged: storedObject<UnacknowledgedStatus>()({
    namespace: z.string(),
    name: z.string(),
    status: z.looseObject({ phase: z.enum(['Succeeded', 'Failed']) }),
    // Missing in files that older versions wrote.
    isFinal: z._default(z.boolean(), false),
  }),
  /** Admitted resources, keyed by pod UID. The sizes of containers are read from the checkpoints. */
  allocations: storedObject<Omit<Allocation, 'sizes'>>()({
    cpuMillis: z.number(),
    memoryBytes: z.number(),
    hostPorts: z.array(hostPortSchema),
    critical: z.boolean(),
    // Missing in files that older versions wrote.
    extra: z._default(z.record(z.string(), z.number()), {}),
    priority: z._default(z.nullable(z.int()), null),
    qos: z._default(z.enum(['Guaranteed', 'Burstable', 'BestEffort']), 'Burstable'),
    resources: z.optional(podResourcesSchema),
  }),
  /** Probe results of running containers, keyed by pod UID. */
  probes: z.array(storedObject<ProbeResults>()({ id: z.string(), started: z.boolean(), ready: z.boolean() })),
  /** Statuses of terminated containers of pods that are not from an API server, keyed by pod UID. */
  containerEnds: storedObject<ContainerEnds>()({
    initContainerStatuses: z.optional(z.array(endedContainerSchema)),
    containerStatuses: z.optional(z.array(endedContainerSchema)),
    ephemeralContainerStatuses: z.optional(z.array(endedContainerSchema)),
  }),
};

/** The terminal status of a pod, for sinks that must acknowledge it. */
export interface UnacknowledgedStatus {
  readonly namespace: string;
  readonly name: string;
  readonly status: PodStatus;
  /** Whether the pod must not run again, because it has reached a terminal phase and has not been removed since. */
  readonly isFinal: boolean;
}

export interface NodeStore extends FactStore<typeof factSchemas> {
  /** Returns the resources of a pod in the kubelet's checkpoints. */
  readonly checkpointedResources: (uid: string) => CheckpointedResources;
  /**
   * Sets the resources of a pod in the kubelet's checkpoints, or removes the pod. Resolves when they are durable.
   * Returns undefined if nothing has changed.
   */
  readonly checkpointResources: (uid: string, resources: CheckpointedResources) => Promise<void> | undefined;
}

export interface DurableFacts {
  readonly manifests: ReadonlyMap<string, StoredManifest>;
  readonly fetched: ReadonlyMap<string, readonly Pod[]>;
  readonly statuses: ReadonlyMap<string, PodStatus>;
  readonly unacknowledged: ReadonlyMap<string, UnacknowledgedStatus>;
  /** Resources with which this agent has admitted pods, keyed by pod UID. */
  readonly allocations: ReadonlyMap<string, Allocation>;
  /** Resources with which the kubelet has admitted pods, keyed by pod UID. Some of the pods may not exist any more. */
  readonly kubeletAllocations: ReadonlyMap<string, Allocation>;
  readonly probes: ReadonlyMap<string, readonly ProbeResults[]>;
  readonly containerEnds: ReadonlyMap<string, ContainerEnds>;
  /** One message for each unreadable file, which was quarantined. */
  readonly damaged: readonly string[];
}

/**
 * Whether the status is that of a pod that the node rejected. Older versions stored such statuses, but the node repeats
 * the pod's admission after a restart (C24).
 */
const wasRejected = ({ message }: PodStatus): boolean => message?.startsWith('Pod was rejected: ') === true;

/** Opens the store below the agent's root directory and reads its facts. */
export async function openNodeStore(
  rootDir: string,
  options: Omit<StoreOptions, 'checkpoints'> = {},
): Promise<{ store: NodeStore; durable: DurableFacts }> {
  const { files = hostFiles } = options;
  const { checkpoints, damageMessages: checkpointDamage } = await readResourceCheckpoints(rootDir, files);
  const checkpointFolder = { directory: rootDir, formatFile: (name: string) => checkpoints.format(name) };
  const factStore = await openStore(`${rootDir}/statelet`, factSchemas, { ...options, checkpoints: checkpointFolder });
  const { facts, damageMessages: factDamage } = await factStore.read();
  const statuses = new Map([...facts.statuses].filter(([, status]) => !wasRejected(status)));
  for (const [uid, { status, isFinal }] of facts.unacknowledged) {
    if (!isFinal || statuses.has(uid)) continue;
    // The previous run stopped between two writes. Repeat the second write, and retain the fact of the first write
    // until the second one is durable.
    statuses.set(uid, status);
    // Ignore a failure, because every failed write is retried and reported.
    factStore.write('statuses', uid, status).catch(() => {});
  }
  const nodeStore: NodeStore = {
    ...factStore,
    checkpointedResources: (uid) => checkpoints.get(uid),
    checkpointResources: (uid, resources) => {
      const changedFiles = checkpoints.set(uid, resources);
      if (changedFiles.length === 0) return undefined;
      return Promise.all(changedFiles.map((name) => factStore.writeCheckpoint(name))).then(() => {});
    },
  };
  const damaged = [...checkpointDamage, ...factDamage];
  return { store: nodeStore, durable: { ...facts, ...checkpointedAllocations(facts, checkpoints), statuses, damaged } };
}

/** Returns the allocations with the resources in the checkpoints, which any agent may have written last. */
function checkpointedAllocations(
  { allocations }: Pick<DurableFacts, 'allocations'>,
  checkpoints: ResourceCheckpoints,
): Pick<DurableFacts, 'allocations' | 'kubeletAllocations'> {
  const ownAllocations = new Map(allocations);
  const kubeletAllocations = new Map<string, Allocation>();
  for (const uid of checkpoints.uids) {
    const { allocated, actuated } = checkpoints.get(uid);
    if (allocated === undefined) continue;
    const persisted = allocations.get(uid);
    const target = persisted === undefined ? kubeletAllocations : ownAllocations;
    target.set(uid, allocationFromCheckpoints(persisted, { allocated, actuated }));
  }
  return { allocations: ownAllocations, kubeletAllocations };
}
