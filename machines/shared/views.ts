/** Builds views of actors, from which statuses are computed. Code outside the machines does not read snapshots. */
import type { ActorRefFrom } from 'xstate';
import { volumeWaitingReason } from '../../kubernetes/api/containers.ts';
import type { Allocation } from '../../kubernetes/resources/allocation.ts';
import type { ContainerView, PodView, VolumeView } from '../../kubernetes/status/view.ts';
import type { ActorNode, LimiterView } from '../../show/actors/actorNode.ts';
import type { containerMachine } from '../container/chart.ts';
import { specOf } from '../container/context.ts';
import { containerView } from '../container/view.ts';
import { blockingHolders, type limiterMachine, waitingOrder } from '../limiter/chart.ts';
import type { NodeContext } from '../node/context.ts';
import { newPods } from '../node/wanted.ts';
import type { podMachine } from '../pod/chart.ts';
import { awaitsAdoption } from '../pod/commands.ts';
import { isCgroupOutdated, isResizing, presentAllocation } from '../pod/resizing.ts';
import { probeRefs, resultOf } from '../probe/view.ts';
import type { volumeMachine } from '../volume/chart.ts';
import { childrenOf, hasFailureInTree } from './actorTree.ts';
import type { RuntimeHealth } from './events.ts';
import { latestViews } from './latestViews.ts';

export type PodRef = ActorRefFrom<typeof podMachine>;
type ContainerRef = ActorRefFrom<typeof containerMachine>;
type VolumeRef = ActorRefFrom<typeof volumeMachine>;

/**
 * Views of containers. A view is rebuilt only if a value that it contains has changed. Every change of a container
 * causes the status of its whole pod to be computed, and the pod may have hundreds of containers.
 */
const containerViews = latestViews<ContainerView>();

export function podView(ref: PodRef): PodView {
  const snapshot = ref.getSnapshot();
  const { context } = snapshot;
  const { sandbox, refused, unadmitted, termination, restored, initialized } = context;
  const restartsAll = context.restartsAll === true && termination === undefined;
  const volumes = childrenOf<VolumeRef>(snapshot, 'volume/').map(volumeView);
  const ends = termination !== undefined;
  const isDeleted = termination?.reason === 'Deleted' || context.desired.metadata.deletionTimestamp !== undefined;
  const side = { ends, endsUndeleted: ends && !isDeleted, restartsAll, volumes };
  return {
    pod: context.allocated,
    tags: [...snapshot.tags],
    conditions: context.conditions,
    ...(sandbox ? { sandbox } : {}),
    startedAt: context.startedAt,
    ...(refused ? { refused } : {}),
    ...(unadmitted ? { unadmitted, pendingGeneration: context.pendingResize?.generation } : {}),
    ...(isResizing(context)
      ? { resizing: true, resizeGeneration: context.resize?.generation, resizeFailure: context.resize?.error }
      : {}),
    ...(context.fitted && isCgroupOutdated(context) ? { applied: context.fitted.spec } : {}),
    // A pod that completed was not terminated by a command.
    ...(termination?.reason === 'Completed' ? { completes: true } : {}),
    ...(termination && termination.reason !== 'Completed' ? { termination } : {}),
    ...(termination?.exceedsDeadline ? { exceedsDeadline: true } : {}),
    ...(restored ? { restored } : {}),
    ...(context.containerEnds ? { containerEnds: context.containerEnds } : {}),
    ...(context.restarts ? { restarts: context.restarts } : {}),
    initialized,
    ...(restartsAll ? { restartsAll } : {}),
    ...(isUnsettled(ref) ? { unsettled: true } : {}),
    ended: snapshot.hasTag('ended'),
    reclaimed: snapshot.hasTag('reclaimed'),
    volumes,
    containers: childrenOf<ContainerRef>(snapshot, 'container/').map((child) => viewOfContainer(child, side)),
  };
}

interface Around {
  readonly ends: boolean;
  readonly endsUndeleted: boolean;
  readonly restartsAll: boolean;
  readonly volumes: readonly VolumeView[];
}

function viewOfContainer(ref: ContainerRef, { ends, endsUndeleted, restartsAll, volumes }: Around): ContainerView {
  const own = ref.getSnapshot();
  const volumeReason = volumeWaitingReason(volumes, specOf(own.context));
  const shows = [
    own,
    ends,
    endsUndeleted,
    restartsAll,
    volumeReason?.reason,
    volumeReason?.message,
    ...probeRefs(own).map(resultOf),
  ];
  return containerViews(ref, shows, () => containerView(own, { ends, endsUndeleted, restartsAll, volumeReason }));
}

function volumeView(ref: VolumeRef): VolumeView {
  const snapshot = ref.getSnapshot();
  const { name, waitingReason } = snapshot.context;
  if (!waitingReason || !snapshot.hasTag('gettingImage')) return { name };
  return { name, waitingReason: { reason: waitingReason.reason, message: waitingReason.message } };
}

/** Whether the runtime is being queried for the pod's containers. No status is reported before they are known. */
export function isBeingAdopted(ref: PodRef): boolean {
  const snapshot = ref.getSnapshot();
  if (snapshot.hasTag('recalling') || awaitsAdoption(snapshot.context)) return true;
  const containers = childrenOf<ContainerRef>(snapshot, 'container/');
  if (containers.some((child) => child.getSnapshot().hasTag('unknown'))) return true;
  const isFirst = containers.length === 0 && snapshot.context.observed.containers.length > 0;
  // A failure may last, so the status is then reported with the available data.
  return isFirst && snapshot.hasTag('withoutContainers') && !hasFailureInTree(ref);
}

/**
 * Whether containers of the pod may be running that its actors do not know of yet, because another agent has the pod or
 * some containers have not been queried.
 */
function isUnsettled(ref: PodRef): boolean {
  const snapshot = ref.getSnapshot();
  if (snapshot.context.restored) return false;
  const containers = childrenOf<ContainerRef>(snapshot, 'container/');
  const isUnasked = containers.length === 0 && snapshot.context.observed.containers.length > 0;
  return (
    snapshot.hasTag('ofOthers') ||
    awaitsAdoption(snapshot.context) ||
    (isUnasked && snapshot.hasTag('settingUp')) ||
    containers.some((child) => child.getSnapshot().hasTag('unadopted'))
  );
}

/** Tags of the states in which the admission of the pod has not been decided yet. */
const UNADMITTED = ['recalling', 'ofOthers', 'admitting'] as const;

/**
 * Returns the last admitted allocation of a pod, even if its actor has failed. Returns undefined if there is none or it
 * is unknown.
 */
export function lastAllocation(ref: PodRef): Allocation | undefined {
  const snapshot = ref.getSnapshot();
  const { refused, termination } = snapshot.context;
  const isUnknown = refused !== undefined || termination?.isUnheard === true;
  return isUnknown || UNADMITTED.some((tag) => snapshot.hasTag(tag)) ? undefined : presentAllocation(snapshot.context);
}

/** A pod's view, from which its status is computed, and its actor tree. */
export interface ShownPod {
  readonly view: PodView;
  readonly tree: ActorNode;
}

/** Returns the wanted pods that have no actor yet, because the node waits for its runtime. */
export function podsAwaitingNode(context: NodeContext): ShownPod[] {
  const { health } = context;
  if (health.ready || health.since === 0) return [];
  const tags = ['waiting', 'awaitingNode'];
  const waitingFor = `the container runtime, which is not ready: ${health.message ?? 'no reason given'}`;
  return newPods(context).map((pod) => {
    const { uid, name } = pod.metadata;
    const id = `pod/${uid}`;
    const shown = { state: 'awaitingNode', tags, since: health.since, waitingFor, facts: [], children: [] };
    const nothing = {
      containers: [],
      volumes: [],
      initialized: false,
      unsettled: true,
      ended: false,
      reclaimed: false,
    };
    return {
      view: { pod, tags, conditions: pod.status?.conditions, ...nothing },
      tree: { id, machine: 'pod', kind: 'pod', name, path: id, ...shown },
    };
  });
}

/** Returns why the runtime is not ready, or undefined if it is ready or its state is not known yet. */
export const runtimeNotReadyOf = ({ ready, since, lacksOnlyNetwork, message }: RuntimeHealth): string | undefined =>
  ready || lacksOnlyNetwork || since === 0 ? undefined : (message ?? 'no reason given');

export function limiterView(ref: ActorRefFrom<typeof limiterMachine> | undefined): LimiterView {
  // A stopped node no longer has limiters.
  if (ref === undefined) return { capacity: 0, held: [], queue: [] };
  const { context } = ref.getSnapshot();
  const keysOf = (requests: readonly { readonly key: string }[]) => requests.map(({ key }) => key);
  const slow = context.held.filter((each) => each.slow);
  const line = waitingOrder(context);
  const behind = line.map((request) => blockingHolders(context, request).map(({ purpose }) => purpose));
  return {
    capacity: context.capacity,
    held: keysOf(context.held),
    ...(slow.length > 0 ? { slow: keysOf(slow) } : {}),
    queue: keysOf(line),
    ...(behind.some((purposes) => purposes.length > 0) ? { behind } : {}),
  };
}
