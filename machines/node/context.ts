/** What the node agent knows, and the plain questions that its chart asks of it. The chart is in chart.ts. */

import type { Failure } from '../../base/failure.ts';
import { lookUp } from '../../base/lookUp.ts';
import { withEntries, withoutEntry } from '../../base/withEntries.ts';
import { type AdmissionNode, nodeLabels } from '../../kubernetes/admission/node.ts';
import { safeSysctls } from '../../kubernetes/admission/sysctls.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { PodStatus } from '../../kubernetes/api/schema/status.ts';
import type { BackOff } from '../../kubernetes/lifecycle/backoff.ts';
import {
  deadContainers,
  defaultGarbagePolicy,
  emptySandboxes,
  type GarbagePolicy,
} from '../../kubernetes/lifecycle/garbage.ts';
import {
  type ContainerRun,
  containerRunOf,
  type ForeignPod,
  type LeftPod,
  type ObservedPod,
  type PodIdentity,
  separateForeignSandboxes,
} from '../../kubernetes/lifecycle/observed.ts';
import type { NodeCondition } from '../../kubernetes/node/nodeConditions.ts';
import type { Allocation } from '../../kubernetes/resources/allocation.ts';
import type { Capacity } from '../../kubernetes/resources/requests.ts';
import type { ContainerEnds } from '../../kubernetes/status/view.ts';
import type { CertificateInput } from '../certificate/chart.ts';
import type { Probed } from '../container/context.ts';
import type { MirrorsKnown } from '../mirror/known.ts';
import type { FeedName, NetworkNotReady, NodeEvent, RuntimeHealth, SourceProblem } from '../shared/events.ts';
import type { GarbageFound } from '../shared/upkeepEvents.ts';
import type { StatusSinkInput } from '../statusSink/chart.ts';
import type { ClusterAccess, ClusterKnowledge } from './cluster.ts';
import type { PlegState } from './pleg.ts';
import type { PodCidrState } from './podCidr.ts';
import type { SourceState } from './source.ts';

/** How a node shows in its cluster. */
export interface ClusterInput {
  /** How long its lease lasts, in milliseconds. */
  readonly leaseMs: number;
  /** How often it is looked whether its status has changed, in milliseconds. */
  readonly statusCheckMs: number;
  readonly access?: ClusterAccess;
  /** The certificates that it keeps itself; absent: none. */
  readonly certificates?: readonly Omit<CertificateInput, 'nodeName'>[];
}

export interface NodeInput {
  readonly nodeName: string;
  /** The mark on sandboxes that are this agent's: its root directory and node. */
  readonly owner: string;
  /** The sources that must have spoken before anything is started or ended. */
  readonly sources: readonly string[];
  /** The node's addresses, the primary first. */
  readonly hostIps: readonly string[];
  /** Of the whole node. */
  readonly capacity: Capacity;
  /** What of it pods may take. */
  readonly allocatable: Capacity;
  /** All but Ready, which follows from its runtime; absent: none is known. */
  readonly conditions?: readonly NodeCondition[];
  /** What admission asks of the node; what is absent is as on a Linux node with nothing special. */
  readonly admissionNode?: Partial<Omit<AdmissionNode, 'name' | 'strictGroups'>>;
  readonly startSlots: number;
  readonly pullSlots: number;
  /** How long one pull may take, in milliseconds; absent: as long as it takes. */
  readonly pullLimitMs?: number;
  /** How long pulls may hold all slots, in milliseconds, before those of other registries go on without them; absent: for ever. */
  readonly slowPullMs?: number;
  readonly crashLoop: BackOff;
  /** Whether Burstable pods have a share of the node's swap. */
  readonly limitedSwap?: boolean;
  /** Terminal statuses that pods had reached before the restart, by uid. */
  readonly statuses: Readonly<Record<string, PodStatus>>;
  /** What had been admitted before the restart, or before their actors broke, by uid. */
  readonly allocations: Readonly<Record<string, Allocation>>;
  /** What the probes of running containers had come to before the restart, by the pod's uid. */
  readonly probed?: Readonly<Record<string, readonly Probed[]>>;
  /** The ends of containers that were reported before the restart, by the uid of a pod that no API server has. */
  readonly containerEnds?: Readonly<Record<string, ContainerEnds>>;
  /** How many dead containers are kept; absent: as many as a kubelet keeps. */
  readonly garbage?: GarbagePolicy;
  /** How often the sizes of logs are looked at, in milliseconds; absent: as often as a kubelet does. */
  readonly logCheckMs?: number;
  /** The pods of which a former run of the agent left something on disk. */
  readonly left: readonly LeftPod[];
  /** The uids of the pods of which there were logs before this agent; absent: of none; unknown: there may be of any. */
  readonly logged?: readonly string[] | 'unknown';
  /** The cluster that it belongs to; absent: none. */
  readonly cluster?: ClusterInput;
  /** Where statuses go, and what each had not acknowledged before the restart; absent: nowhere. */
  readonly sinks?: readonly StatusSinkInput[];
  /** It runs only to end every pod, none of which is an orphan then: each gets its own grace. */
  readonly endsAll?: boolean;
  /** The pods of others that have a directory below this agent's root. */
  readonly foreign?: readonly ForeignPod[];
}

export interface NodeContext
  extends Omit<NodeInput, 'startSlots' | 'pullSlots' | 'pullLimitMs' | 'slowPullMs' | 'sinks'>,
    ClusterKnowledge {
  /** The names of those that statuses go to. */
  readonly sinks: readonly string[];
  readonly mirrors: MirrorsKnown;
  /** What each source wants that has told its full set, by uid. */
  readonly desired: Readonly<Record<string, Readonly<Record<string, Pod>>>>;
  /** How the sources get on that tell it. */
  readonly sourceStates: Readonly<Record<string, SourceState>>;
  /** Why manifests are not used, and what is odd in those that are, by source. */
  readonly problems: Readonly<Record<string, readonly SourceProblem[]>>;
  readonly warnings: Readonly<Record<string, readonly SourceProblem[]>>;
  /** The sources that could not be read before they had told a set. */
  readonly unread: readonly string[];
  /** What the runtime has, by uid; absent until it has been listed once. */
  readonly observed?: Readonly<Record<string, ObservedPod>>;
  /** The uids of the pods that were taken over: their sandboxes are this agent's, whoever marked them. */
  readonly taken: readonly string[];
  /** The pods that have an actor, by uid, as last given to it; `ending` once it was told to end. */
  readonly pods: Readonly<Record<string, { readonly pod: Pod; readonly ending: boolean }>>;
  readonly health: RuntimeHealth;
  readonly pleg: PlegState;
  /** Whether the runtime has the addresses of pods. Absent if the node has not got any. */
  readonly podCidr?: PodCidrState;
  /** Whether it is ready, but that it drains, and since when; absent: since it began. */
  readonly readiness: { readonly isReady: boolean; readonly since?: number };
  /** Why feeds have ended that the node goes on without. */
  readonly brokenFeeds: Readonly<Partial<Record<FeedName, Failure>>>;
  /** When the last fact was that it heard of, in milliseconds since the epoch. */
  readonly heardAt: number;
  /** The pods whose actors broke while they ended: each is ended once more at the next tick. */
  readonly broken: readonly Pod[];
  /** How many pods have arrived. */
  readonly tickets: number;
  /** When it was told to stop, in milliseconds since the epoch; 0 before. */
  readonly drainAt: number;
  /** The uids of the pods that have ended since then. */
  readonly drained: readonly string[];
  /** Why the node agent cannot go on. */
  readonly failure?: Failure;
}

/** What of the node itself can change while it runs. */
export type ChangeableFacts = Required<
  Pick<NodeContext, 'hostIps' | 'capacity' | 'allocatable' | 'conditions' | 'admissionNode'>
>;

/** All of that as it is now. */
export const changeableFacts = ({
  hostIps,
  capacity,
  allocatable,
  conditions = [],
  admissionNode = {},
}: NodeContext): ChangeableFacts => ({ hostIps, capacity, allocatable, conditions, admissionNode });

export const nothingOf = ({ uid, namespace, name }: PodIdentity): ObservedPod => ({
  uid,
  namespace,
  name,
  sandboxes: [],
  containers: [],
});

export const observedOf = (context: NodeContext, pod: Pod): ObservedPod =>
  lookUp(context.observed, pod.metadata.uid) ?? nothingOf(pod.metadata);

/** What pods are told of the runtime's network. */
export const networkOf = ({ networkNotReady: message, since }: RuntimeHealth): { networkNotReady?: NetworkNotReady } =>
  message === undefined ? {} : { networkNotReady: { message, since } };

/** What may go of the pods that go on; those that end remove everything themselves. A runtime that is away has nothing. */
export function garbageOf({
  observed = {},
  pods,
  health,
  garbage = defaultGarbagePolicy,
  foreign = [],
}: NodeContext): GarbageFound {
  const live = Object.values(observed).filter(({ uid }) => health.ready && lookUp(pods, uid)?.ending === false);
  return {
    containers: deadContainers(live, garbage),
    sandboxes: emptySandboxes(live),
    known: Object.keys(pods),
    foreign,
  };
}

/** The logs that are being written to: those of the running containers of pods that have an actor. */
export const runningLogs = ({ observed = {}, pods }: NodeContext): ContainerRun[] =>
  Object.values(observed).flatMap((pod) =>
    Object.hasOwn(pods, pod.uid)
      ? pod.containers.filter(({ state }) => state === 'running').map((each) => containerRunOf(pod, each))
      : [],
  );

const isShown = ({ sandboxes, containers, others = [] }: ObservedPod): boolean =>
  sandboxes.length + containers.length + others.length > 0;

/** What the runtime has of a pod that this agent may take for its own. */
export const ownPartOf = ({ owner, taken }: NodeContext, pod: ObservedPod): ObservedPod =>
  taken.includes(pod.uid) ? pod : separateForeignSandboxes(pod, owner);

/** What admission asks of the node, whatever was said of it. */
export const admissionNode = ({
  nodeName: name,
  admissionNode: known,
}: Pick<NodeInput, 'nodeName' | 'admissionNode'>): AdmissionNode => ({
  name,
  labels: nodeLabels({ hostname: name, arch: 'amd64' }),
  taints: [],
  sysctls: safeSysctls(''),
  appArmor: false,
  strictGroups: false,
  ...known,
});

/** What the runtime has after a look that brought these pods; a pod of which nothing is left goes. */
export function withObserved(
  context: NodeContext,
  pods: readonly ObservedPod[],
): Readonly<Record<string, ObservedPod>> {
  const own = pods.map((shown) => ownPartOf(context, shown));
  const shown = own.filter(isShown).map((pod) => [pod.uid, pod] as const);
  const gone = own.filter((pod) => !isShown(pod));
  return gone.reduce((left, { uid }) => withoutEntry(left, uid), withEntries(context.observed ?? {}, shown));
}

/** What the runtime has beside a pod that was ended; what another agent has of that was not. */
export function withoutSeen({ observed: all }: NodeContext, uid = ''): Pick<NodeContext, 'observed'> {
  if (all === undefined) return {};
  const { [uid]: _, ...observed } = all;
  const old = lookUp(all, uid);
  return { observed: old?.others ? { ...observed, [uid]: { ...nothingOf(old), others: old.others } } : observed };
}

/** Forgets the facts that were persisted of a pod of which nothing is left: a later pod may have its UID. */
export function withoutRestored(context: NodeContext, uid = ''): Partial<NodeContext> {
  const { statuses, allocations, probed = {}, containerEnds = {}, logged = [] } = context;
  const isRestored = [statuses, allocations, probed, containerEnds].some((restored) => Object.hasOwn(restored, uid));
  if (!isRestored && !mayHaveLogs(context, uid)) return {};
  const without = <T>({ [uid]: _, ...others }: Readonly<Record<string, T>>) => others;
  return {
    statuses: without(statuses),
    allocations: without(allocations),
    probed: without(probed),
    containerEnds: without(containerEnds),
    logged: logged === 'unknown' ? logged : logged.filter((each) => each !== uid),
  };
}

/** Whether there may be logs of a pod from before this agent. */
export const mayHaveLogs = ({ logged = [] }: Pick<NodeContext, 'logged'>, uid: string): boolean =>
  logged === 'unknown' || logged.includes(uid);

/** The pods of others with a directory here, after a survey that told what is another of them. */
function foreignAfter(
  { foreign = [] }: NodeContext,
  { foreign: changed, gone }: Extract<NodeEvent, { type: 'garbage.podsFound' }>,
): readonly ForeignPod[] {
  if (changed.length + gone.length === 0) return foreign;
  const others = new Set([...gone, ...changed.map(({ uid }) => uid)]);
  return [...foreign.filter(({ uid }) => !others.has(uid)), ...changed];
}

/** What is left of pods, where these were found now: of each there is one, however often it is found. */
export function withLeft(left: readonly LeftPod[], found: readonly LeftPod[]): readonly LeftPod[] {
  return [...new Map([...left, ...found].map((each) => [each.uid, each])).values()];
}

/** What the node keeps of a fact about itself. */
export function recordedFact(context: NodeContext, event: NodeEvent): Partial<NodeContext> {
  switch (event.type) {
    case 'node.ticked':
      return { heardAt: event.at };
    case 'node.drain':
      return { drainAt: event.at };
    case 'node.factsChanged': {
      const { type: _, at: heardAt, admissionNode, ...changed } = event;
      const known = admissionNode && { admissionNode: { ...context.admissionNode, ...admissionNode } };
      return { ...changed, heardAt, ...known };
    }
    case 'runtime.plegChanged':
      return { pleg: event.pleg };
    case 'runtime.podCidrChanged':
      return { podCidr: event.podCidr };
    case 'feed.ended':
      return event.failure ? { brokenFeeds: { ...context.brokenFeeds, [event.feed]: event.failure } } : {};
    // They end like any pod that nobody wants: by an actor, which removes what is left of them.
    case 'garbage.podsFound':
      return { left: withLeft(context.left, event.left), foreign: foreignAfter(context, event) };
    default:
      return {};
  }
}

/** The uid of the pod whose actor an event is about, if it is about one. */
export function uidOf(event: object): string | undefined {
  const id = 'actorId' in event ? String(event.actorId) : '';
  return id.startsWith('pod/') ? id.slice('pod/'.length) : undefined;
}
