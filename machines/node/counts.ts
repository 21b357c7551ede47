/** How many of what there are on the node, counted when somebody asks: nothing of it is kept. */
import type { ActorRefFrom, AnyActorRef, AnyMachineSnapshot } from 'xstate';
import { lookUp } from '../../base/lookUp.ts';
import { isStaticPod } from '../../kubernetes/api/staticPod.ts';
import { childrenOf } from '../shared/actorTree.ts';
import type { PodRef } from '../shared/views.ts';
import type { nodeAgentMachine } from './chart.ts';
import type { NodeContext } from './context.ts';

/** A pod that has an actor. */
export interface CountedPod {
  readonly uid: string;
  readonly isStatic: boolean;
  /** Whether it may run, is being ended, or runs no more (as the work of a kubelet's pod workers). */
  readonly lifecycle: 'sync' | 'terminating' | 'terminated';
  /** Whether a source wants it. */
  readonly isWanted: boolean;
  readonly volumes: Volumes;
}

/** The volumes of a pod by their names: whether each is mounted. */
type Volumes = ReadonlyMap<string, boolean>;

export interface NodeCounts {
  /** By the id of their machine, then by the outermost state that they are in. */
  readonly actors: ReadonlyMap<string, ReadonlyMap<string, number>>;
  readonly pods: readonly CountedPod[];
  /** As the runtime was seen last: the pods with a sandbox that is ready, and all containers by their states. */
  readonly runningPods: number;
  readonly containers: ReadonlyMap<string, number>;
  readonly mirrors: number;
  /** Until when the certificates that the node keeps itself are good, by their names: in milliseconds since the epoch. */
  readonly certificates: ReadonlyMap<string, number>;
}

/** Counts all that the actors below a node's root are and know. */
export function nodeCounts(root: ActorRefFrom<typeof nodeAgentMachine>): NodeCounts {
  const snapshot = root.getSnapshot();
  const actors = new Map<string, Map<string, number>>();
  countActors(root, actors);
  return {
    actors,
    pods: childrenOf<PodRef>(snapshot, 'pod/').map((ref) => countedPod(ref, snapshot.context)),
    ...seenAtRuntime(snapshot.context),
    mirrors: snapshot.context.mirrors.seen.length,
    certificates: certificatesOf(childrenOf(snapshot, 'certificate/')),
  };
}

/** Calls, feeds and timers are no machines: each is part of the state that made it. */
function countActors(ref: AnyActorRef, into: Map<string, Map<string, number>>): void {
  const snapshot: AnyMachineSnapshot = ref.getSnapshot();
  if (snapshot.value === undefined) return;
  const ofMachine = into.get(snapshot.machine.id) ?? new Map<string, number>();
  into.set(snapshot.machine.id, ofMachine);
  add(ofMachine, outermost(snapshot));
  for (const child of childrenOf(snapshot)) countActors(child, into);
}

function outermost({ value, status }: AnyMachineSnapshot): string {
  if (status === 'error') return 'broken';
  return typeof value === 'string' ? value : (Object.keys(value)[0] ?? '');
}

const add = (counts: Map<string, number>, key: string) => void counts.set(key, (counts.get(key) ?? 0) + 1);

function countedPod(ref: PodRef, { pods }: NodeContext): CountedPod {
  const snapshot = ref.getSnapshot();
  const { allocated: pod, termination } = snapshot.context;
  const { uid } = pod.metadata;
  const ends = termination === undefined ? 'sync' : 'terminating';
  const volumes = childrenOf(snapshot, 'volume/').map(
    (volume) => [volume.id.slice('volume/'.length), volume.getSnapshot().hasTag('mounted')] as const,
  );
  return {
    uid,
    isStatic: isStaticPod(pod),
    isWanted: lookUp(pods, uid)?.ending === false,
    volumes: new Map(volumes),
    lifecycle: snapshot.hasTag('ended') ? 'terminated' : ends,
  };
}

function seenAtRuntime({ observed = {} }: NodeContext): Pick<NodeCounts, 'runningPods' | 'containers'> {
  const containers = new Map<string, number>();
  let runningPods = 0;
  for (const pod of Object.values(observed)) {
    if (pod.sandboxes.some(({ state }) => state === 'ready')) runningPods += 1;
    for (const { state } of pod.containers) add(containers, state);
  }
  return { runningPods, containers };
}

const certificatesOf = (refs: readonly AnyActorRef[]): Map<string, number> =>
  new Map(
    refs.flatMap((ref) => {
      // Of the machine of certificates alone.
      const { certificate, name }: { certificate?: { notAfter: number }; name: string } = ref.getSnapshot().context;
      return certificate ? [[name, certificate.notAfter]] : [];
    }),
  );
