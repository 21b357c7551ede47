/** Plain views of the actors' snapshots: nobody else reads a snapshot. What they show is in pod/show/view.ts. */
import type { ActorRefFrom } from 'xstate';
import { waitingReasonOfVolumes } from '../../pod/api/containers.ts';
import { KIND_NAMES } from '../../pod/show/explainText.ts';
import type { ContainerView, LimiterView, PodView, VolumeView } from '../../pod/show/view.ts';
import type { containerMachine } from '../container/chart.ts';
import { specOf } from '../container/context.ts';
import { containerView } from '../container/view.ts';
import { shownOfImage, withImage } from '../image/view.ts';
import { holdersFor, type limiterMachine, lineOf } from '../limiter/chart.ts';
import type { NodeContext } from '../node/context.ts';
import { newPods } from '../node/wanted.ts';
import type { podMachine } from '../pod/chart.ts';
import { blockedBy } from '../pod/launchOrder.ts';
import { awaitsRoom, isResizing, isUnfitted } from '../pod/resizing.ts';
import { probeRefs, probeViews } from '../probe/view.ts';
import type { volumeMachine } from '../volume/chart.ts';
import { actorView, childrenOf } from './actorTree.ts';
import type { RuntimeHealth } from './events.ts';
import { latestViews } from './latestViews.ts';
import type { SinceOf } from './stateMeta.ts';

export type PodRef = ActorRefFrom<typeof podMachine>;
type ContainerRef = ActorRefFrom<typeof containerMachine>;
type VolumeRef = ActorRefFrom<typeof volumeMachine>;

/**
 * The view of a child is made again only when something that it shows has changed: each change of one container or
 * volume is a look at all that its pod has, and there may be hundreds.
 */
const containerViews = latestViews<ContainerView>();
const volumeViews = latestViews<VolumeView>();

/** The view of a pod with its volumes and containers. */
export function podView(ref: PodRef, sinceOf: SinceOf): PodView {
  const snapshot = ref.getSnapshot();
  const { context } = snapshot;
  const { sandbox, refused, unadmitted, termination, restored, initialized } = context;
  const path = `pod/${context.allocated.metadata.uid}`;
  const restartsAll = snapshot.hasTag('restartingAll');
  const oldest = context.observed.sandboxes.at(-1);
  const volumes = childrenOf<VolumeRef>(snapshot, 'volume/').map((child) => viewOfVolume(path, child, sinceOf));
  const containers = childrenOf<ContainerRef>(snapshot, 'container/').map((child) =>
    viewOfContainer(child, { path, ends: termination !== undefined, restartsAll, volumes, sinceOf }),
  );
  return {
    ...actorView(ref, path, sinceOf),
    ...{ pod: context.allocated, conditions: context.conditions },
    ...(sandbox ? { sandbox } : {}),
    ...(oldest ? { startedAt: oldest.createdAt } : {}),
    ...(refused ? { refused } : {}),
    ...(unadmitted ? { unadmitted } : {}),
    ...(snapshot.hasTag('active') && awaitsRoom(context) ? { awaitsRoom: true } : {}),
    ...(isResizing(context) ? { resizing: true } : {}),
    ...(context.fitted && isUnfitted(context) ? { applied: context.fitted.spec } : {}),
    // A pod that ended by itself was not ended by anybody.
    ...(termination && termination.reason !== 'Completed' ? { termination } : {}),
    ...(restored ? { restored } : {}),
    initialized,
    ...(restartsAll ? { restartsAll } : {}),
    ...(isUnsettled(ref) ? { unsettled: true } : {}),
    ended: snapshot.hasTag('ended'),
    reclaimed: snapshot.hasTag('reclaimed'),
    volumes,
    containers: snapshot.hasTag('active') ? inLine(containers, blockedBy(context)) : containers,
  };
}

interface Around {
  /** Of the pod. */
  readonly path: string;
  readonly ends: boolean;
  readonly restartsAll: boolean;
  readonly volumes: readonly VolumeView[];
  readonly sinceOf: SinceOf;
}

function viewOfContainer(ref: ContainerRef, { path, ends, restartsAll, volumes, sinceOf }: Around): ContainerView {
  const own = ref.getSnapshot();
  const since = sinceOf(ref);
  const spec = specOf(own.context);
  const volumeReason = waitingReasonOfVolumes(volumes, spec);
  const { image } = own.children;
  const children = [
    ...probeRefs(own).flatMap((probe) => [probe.getSnapshot(), sinceOf(probe)]),
    ...shownOfImage(image, sinceOf),
  ];
  const shows = [own, since, ends, restartsAll, volumeReason?.reason, volumeReason?.message, ...children];
  return containerViews(ref, shows, () => {
    const view = actorView(ref, `${path}/${ref.id}`, sinceOf);
    const side = { ends, restartsAll, volumeReason, probes: probeViews(view.path, own, sinceOf) };
    return containerView(withImage(view, image, sinceOf), own, side);
  });
}

/** Those that could be launched say for whom they wait (C9). */
function inLine(containers: readonly ContainerView[], heldUp: string | undefined): readonly ContainerView[] {
  const first = containers.find(({ name }) => name === heldUp);
  if (first === undefined) return containers;
  const whom = `${KIND_NAMES[first.role]} ${first.name}`;
  const waitingFor = first.tags.includes('runningPostStart')
    ? `${whom}'s postStart hook`
    : `${whom}, which starts before it`;
  return containers.map((each) =>
    each !== first && each.tags.includes('readyToCreate') ? { ...each, waitingFor } : each,
  );
}

/** Whether the pod's containers are being asked for at the runtime: until they are known nothing is to be told of it. */
export function isBeingAdopted(ref: PodRef): boolean {
  const snapshot = ref.getSnapshot();
  const containers = childrenOf<ContainerRef>(snapshot, 'container/');
  if (containers.some((child) => child.getSnapshot().hasTag('unknown'))) return true;
  const isFirst = containers.length === 0 && snapshot.context.observed.containers.length > 0;
  return isFirst && snapshot.hasTag('withoutContainers');
}

/**
 * Whether the pod may be running in ways that its actors do not know yet: another agent has it, or not all of its
 * containers could be asked for.
 */
function isUnsettled(ref: PodRef): boolean {
  const snapshot = ref.getSnapshot();
  if (snapshot.context.restored) return false;
  const containers = childrenOf<ContainerRef>(snapshot, 'container/');
  const isUnasked = containers.length === 0 && snapshot.context.observed.containers.length > 0;
  return (
    snapshot.hasTag('ofOthers') ||
    (isUnasked && snapshot.hasTag('settingUp')) ||
    containers.some((child) => child.getSnapshot().hasTag('unadopted'))
  );
}

/** The pods that are wanted and have no actor, because the node cannot begin while its runtime does not answer. */
export function awaitedViews(context: NodeContext): PodView[] {
  const { health } = context;
  if (health.ready || health.since === 0) return [];
  return newPods(context).map((pod) => ({
    path: `pod/${pod.metadata.uid}`,
    state: 'awaitingNode',
    tags: ['waiting', 'awaitingNode'],
    since: health.since,
    waitingFor: `the container runtime, which is not ready: ${health.message ?? 'no reason given'}`,
    ...{ pod, conditions: pod.status?.conditions },
    containers: [],
    volumes: [],
    initialized: false,
    unsettled: true,
    ended: false,
    reclaimed: false,
  }));
}

/** Why the runtime itself is not ready, for who waits for it; undefined while it is, or is not known yet. */
export const runtimeNotReadyOf = ({ ready, since, lacksOnlyNetwork, message }: RuntimeHealth): string | undefined =>
  ready || lacksOnlyNetwork || since === 0 ? undefined : (message ?? 'no reason given');

function viewOfVolume(pod: string, ref: VolumeRef, sinceOf: SinceOf): VolumeView {
  const { image } = ref.getSnapshot().children;
  const shows = [ref.getSnapshot(), sinceOf(ref), ...shownOfImage(image, sinceOf)];
  return volumeViews(ref, shows, () => volumeView(pod, ref, sinceOf));
}

function volumeView(pod: string, ref: VolumeRef, sinceOf: SinceOf): VolumeView {
  const snapshot = ref.getSnapshot();
  const { name, waitingReason } = snapshot.context;
  return {
    ...withImage(actorView(ref, `${pod}/${ref.id}`, sinceOf), snapshot.children.image, sinceOf),
    name,
    mounted: snapshot.hasTag('mounted'),
    ...(waitingReason && snapshot.hasTag('gettingImage')
      ? { waitingReason: { reason: waitingReason.reason, message: waitingReason.message } }
      : {}),
  };
}

/** The view of a limiter: who holds a slot, and who waits for one in which order. */
export function limiterView(ref: ActorRefFrom<typeof limiterMachine> | undefined): LimiterView {
  // With a node that has ended its limiters have, too.
  if (ref === undefined) return { capacity: 0, held: [], queue: [] };
  const { context } = ref.getSnapshot();
  const keysOf = (requests: readonly { readonly key: string }[]) => requests.map(({ key }) => key);
  const slow = context.held.filter((each) => each.slow);
  const line = lineOf(context);
  const behind = line.map((request) => holdersFor(context, request).flatMap(({ purpose }) => purpose ?? []));
  return {
    capacity: context.capacity,
    held: keysOf(context.held),
    ...(slow.length > 0 ? { slow: keysOf(slow) } : {}),
    queue: keysOf(line),
    ...(behind.some((purposes) => purposes.length > 0) ? { behind } : {}),
  };
}
