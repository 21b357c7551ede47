/** Counts the actors, pods and containers on the node. The counts are computed on request. */
import type { ActorRefFrom, AnyActorRef, AnyMachineSnapshot } from 'xstate';
import { lookUp } from '../../base/values/lookUp.ts';
import { isStaticPod } from '../../kubernetes/api/pods/staticPod.ts';
import { availableCpus } from '../../kubernetes/cpus/cpuPolicy.ts';
import { cpuSetOf } from '../../kubernetes/cpus/cpuSet.ts';
import type { CpuAllocation } from '../admission/context.ts';
import { childrenOf } from '../shared/views/actorTree.ts';
import type { PodRef } from '../shared/views/views.ts';
import type { ShutdownTimes } from '../shutdown/context.ts';
import type { nodeAgentMachine } from './chart.ts';
import type { NodeContext } from './context.ts';

/** A pod that has an actor. */
export interface CountedPod {
  readonly uid: string;
  readonly isStatic: boolean;
  /** The pod's stage, as in the kubelet's pod workers: allowed to run (`sync`), terminating, or terminated. */
  readonly lifecycle: 'sync' | 'terminating' | 'terminated';
  /** Whether a source contains the pod. */
  readonly isDesired: boolean;
  readonly volumes: VolumeMountStates;
}

/** Volume names, and whether each volume is mounted. */
type VolumeMountStates = ReadonlyMap<string, boolean>;

interface CpuCounts {
  /** Number of CPUs that can be assigned exclusively. */
  readonly available: number;
  readonly exclusive: number;
  readonly exclusiveByNode: ReadonlyMap<number, number>;
}

export interface NodeCounts {
  /** Number of actors by machine ID, then by top-level state. */
  readonly actors: ReadonlyMap<string, ReadonlyMap<string, number>>;
  readonly pods: readonly CountedPod[];
  /** Number of pods that had a ready sandbox when the runtime's pods were last listed. */
  readonly runningPods: number;
  /** Number of containers by state when the runtime's pods were last listed. */
  readonly containers: ReadonlyMap<string, number>;
  readonly mirrors: number;
  /** Undefined if the node does not assign CPUs. */
  readonly cpus?: CpuCounts;
  /** Start and end of the last host shutdown that the node delayed. Undefined if there was none. */
  readonly lastShutdown?: ShutdownTimes | undefined;
  /** Number of prepared claims by driver. The key `undefined` holds the total. */
  readonly claims: ReadonlyMap<string | undefined, number>;
  /** Expiry of the certificates that the node manages, by name, in milliseconds since the epoch. */
  readonly certificates: ReadonlyMap<string, number>;
}

export function nodeCounts(root: ActorRefFrom<typeof nodeAgentMachine>): NodeCounts {
  const snapshot = root.getSnapshot();
  const actors = new Map<string, Map<string, number>>();
  countActors(root, actors);
  return {
    actors,
    pods: childrenOf<PodRef>(snapshot, 'pod/').map((ref) => countedPod(ref, snapshot.context)),
    ...runtimeCounts(snapshot.context),
    mirrors: snapshot.context.mirrors.observedMirrors.length,
    ...cpuCounts(snapshot.children.admission?.getSnapshot().context.cpus),
    lastShutdown: snapshot.children.shutdown?.getSnapshot().context.lastShutdown,
    claims: preparedClaimCounts(snapshot.context),
    certificates: certificateExpiries(childrenOf(snapshot, 'certificate/')),
  };
}

function preparedClaimCounts({ claims }: NodeContext): NodeCounts['claims'] {
  const preparedClaims = claims.filter(({ isPrepared }) => isPrepared);
  const counts = new Map<string | undefined, number>([[undefined, preparedClaims.length]]);
  for (const { drivers } of preparedClaims)
    for (const { name } of drivers) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

function cpuCounts(allocation: CpuAllocation | undefined): Pick<NodeCounts, 'cpus'> {
  if (allocation === undefined) return {};
  const { cpuPolicy, assignments } = allocation;
  const exclusiveCpus = cpuSetOf(assignments.exclusive.flatMap(({ cpus }) => cpus));
  const exclusiveByNode = new Map<number, number>();
  for (const { cpu, numaNode } of cpuPolicy.topology.cpus) {
    const count = Number(exclusiveCpus.includes(cpu));
    exclusiveByNode.set(numaNode, (exclusiveByNode.get(numaNode) ?? 0) + count);
  }
  const available = availableCpus(cpuPolicy, assignments).length;
  return { cpus: { available, exclusive: exclusiveCpus.length, exclusiveByNode } };
}

/**
 * Counts actors by machine and state. Skips calls, feeds and timers, because they are part of the state that invoked
 * them.
 */
function countActors(ref: AnyActorRef, countsByMachine: Map<string, Map<string, number>>): void {
  const snapshot: AnyMachineSnapshot = ref.getSnapshot();
  if (snapshot.value === undefined) return;
  const stateCounts = countsByMachine.get(snapshot.machine.id) ?? new Map<string, number>();
  countsByMachine.set(snapshot.machine.id, stateCounts);
  add(stateCounts, topLevelState(snapshot));
  for (const child of childrenOf(snapshot)) countActors(child, countsByMachine);
}

function topLevelState({ value, status }: AnyMachineSnapshot): string {
  if (status === 'error') return 'broken';
  return typeof value === 'string' ? value : (Object.keys(value)[0] ?? '');
}

const add = (counts: Map<string, number>, key: string) => void counts.set(key, (counts.get(key) ?? 0) + 1);

function countedPod(ref: PodRef, { pods }: NodeContext): CountedPod {
  const snapshot = ref.getSnapshot();
  const { allocated: pod, termination } = snapshot.context;
  const { uid } = pod.metadata;
  const activeLifecycle = termination === undefined ? 'sync' : 'terminating';
  const volumes = childrenOf(snapshot, 'volume/').map(
    (volume) => [volume.id.slice('volume/'.length), volume.getSnapshot().hasTag('mounted')] as const,
  );
  return {
    uid,
    isStatic: isStaticPod(pod),
    isDesired: lookUp(pods, uid)?.isTerminating === false,
    volumes: new Map(volumes),
    lifecycle: snapshot.hasTag('ended') ? 'terminated' : activeLifecycle,
  };
}

function runtimeCounts({ observed = {} }: NodeContext): Pick<NodeCounts, 'runningPods' | 'containers'> {
  const containers = new Map<string, number>();
  let runningPods = 0;
  for (const pod of Object.values(observed)) {
    if (pod.sandboxes.some(({ state }) => state === 'ready')) runningPods += 1;
    for (const { state } of pod.containers) add(containers, state);
  }
  return { runningPods, containers };
}

const certificateExpiries = (refs: readonly AnyActorRef[]): Map<string, number> =>
  new Map(
    refs.flatMap((ref) => {
      // Safe cast: only actors of the certificate machine are passed in.
      const { certificate, name }: { certificate?: { notAfter: number }; name: string } = ref.getSnapshot().context;
      return certificate ? [[name, certificate.notAfter]] : [];
    }),
  );
