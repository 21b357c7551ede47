/** What must outlive a restart of the agent and can be read neither from the runtime nor from the sources. */
import * as z from 'zod/mini';
import { resourceRequirementsSchema } from '../../kubernetes/api/schema/container.ts';
import { type Pod, podSchema } from '../../kubernetes/api/schema/pod.ts';
import type { PodStatus } from '../../kubernetes/api/schema/status.ts';
import type { Allocation } from '../../kubernetes/resources/allocation.ts';
import type { ContainerEnds } from '../../kubernetes/status/view.ts';
import type { Probed } from '../../machines/container/context.ts';
import type { GoodManifest } from '../sources/manifest/manifestSet.ts';
import { openStore, type Store, type StoreOptions } from './store.ts';

const hostPort = z.object({ port: z.int(), protocol: z.enum(['TCP', 'UDP', 'SCTP']), hostIp: z.string() });

const podResources = z.object({
  pod: z.optional(resourceRequirementsSchema),
  containers: z.record(z.string(), resourceRequirementsSchema),
});
const containerSize = z.object({
  cpuRequest: z.number(),
  cpuLimit: z.number(),
  memoryLimit: z.number(),
  // Older versions did not write this.
  memoryRequest: z.optional(z.number()),
});

const containerState = z.looseObject({ terminated: z.optional(z.looseObject({ exitCode: z.int() })) });
const endedContainer = z.looseObject({
  name: z.string(),
  restartCount: z.int(),
  state: containerState,
  lastState: containerState,
});

const schemas = {
  /** The last good version of each manifest, by its file. */
  manifests: z.pipe(
    // Of one pod an older version kept that, and the first ones nothing else.
    z.transform((kept: unknown) => {
      if (typeof kept !== 'object' || kept === null) return kept;
      if ('spec' in kept) return { pods: [kept] };
      return 'pod' in kept ? { ...kept, pods: [kept.pod] } : kept;
    }),
    z.object({ pods: z.array(podSchema), digest: z.optional(z.string()) }),
  ) as unknown as z.ZodMiniType<GoodManifest>,
  /** The last good set of a manifest URL, by the URL. */
  fetched: z.array(podSchema) as unknown as z.ZodMiniType<readonly Pod[]>,
  /** Terminal statuses, by the pod's uid. */
  statuses: z.looseObject({ phase: z.enum(['Succeeded', 'Failed']) }) as unknown as z.ZodMiniType<PodStatus>,
  /** Terminal statuses that a sink has not acknowledged yet, by the uid of a pod that may be gone. */
  unacknowledged: z.object({
    namespace: z.string(),
    name: z.string(),
    status: z.looseObject({ phase: z.enum(['Succeeded', 'Failed']) }),
    // An older version did not write it.
    isFinal: z._default(z.boolean(), false),
  }) as unknown as z.ZodMiniType<UnacknowledgedStatus>,
  /** What was admitted, by the pod's uid. */
  allocations: z.object({
    cpuMillis: z.number(),
    memoryBytes: z.number(),
    hostPorts: z.array(hostPort),
    critical: z.boolean(),
    // An older version did not write these.
    extra: z._default(z.record(z.string(), z.number()), {}),
    priority: z._default(z.nullable(z.int()), null),
    qos: z._default(z.enum(['Guaranteed', 'Burstable', 'BestEffort']), 'Burstable'),
    resources: z.optional(podResources),
    sizes: z.optional(z.record(z.string(), containerSize)),
  }) as unknown as z.ZodMiniType<Allocation>,
  /** What the probes of its running containers had come to, by the pod's uid. */
  probes: z.array(z.object({ id: z.string(), started: z.boolean(), ready: z.boolean() })) as unknown as z.ZodMiniType<
    readonly Probed[]
  >,
  /** The container statuses with an end, of pods that no API server has, by the pod's uid. */
  containerEnds: z.object({
    initContainerStatuses: z.optional(z.array(endedContainer)),
    containerStatuses: z.optional(z.array(endedContainer)),
    ephemeralContainerStatuses: z.optional(z.array(endedContainer)),
  }) as unknown as z.ZodMiniType<ContainerEnds>,
};

/** How a pod has ended, for the sinks that have to know. */
export interface UnacknowledgedStatus {
  readonly namespace: string;
  readonly name: string;
  readonly status: PodStatus;
  /** Whether the pod must not run again: it has ended by itself, and nobody has removed it since. */
  readonly isFinal: boolean;
}

export type NodeStore = Store<typeof schemas>;

export interface DurableFacts {
  readonly manifests: ReadonlyMap<string, GoodManifest>;
  readonly fetched: ReadonlyMap<string, readonly Pod[]>;
  readonly statuses: ReadonlyMap<string, PodStatus>;
  readonly unacknowledged: ReadonlyMap<string, UnacknowledgedStatus>;
  readonly allocations: ReadonlyMap<string, Allocation>;
  readonly probes: ReadonlyMap<string, readonly Probed[]>;
  readonly containerEnds: ReadonlyMap<string, ContainerEnds>;
  /** One message for each file that could not be read; it has been set aside. */
  readonly damaged: readonly string[];
}

/** An older version kept what the node had refused, which is to be decided again (C24). */
const wasRefused = ({ message }: PodStatus): boolean => message?.startsWith('Pod was rejected: ') === true;

/** Opens the store below the agent's root directory and reads what is in it. */
export async function openNodeStore(
  rootDir: string,
  options?: StoreOptions,
): Promise<{ store: NodeStore; durable: DurableFacts }> {
  const store = await openStore(`${rootDir}/statelet`, schemas, options);
  const { facts, damaged } = await store.read();
  const statuses = new Map([...facts.statuses].filter(([, status]) => !wasRefused(status)));
  for (const [uid, { status, isFinal }] of facts.unacknowledged) {
    if (!isFinal || statuses.has(uid)) continue;
    // A former run was ended between its two writes: the other is made up for, and until it is on disk this one stays.
    statuses.set(uid, status);
    // What cannot be written is tried again, and told of as any other fact.
    store.write('statuses', uid, status).catch(() => {});
  }
  return { store, durable: { ...facts, statuses, damaged } };
}
