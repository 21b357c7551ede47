import type { PodChange } from '../../../../actors/status/statusBoard.ts';
import type { SimulatedContainer } from '../../../../cri/simulated/objects/views.ts';
import { containersOf, findContainerByName } from '../../../../kubernetes/api/pods/containers.ts';
import type { Container } from '../../../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../../../kubernetes/api/schema/pod.ts';
import type { RecordedEvent } from '../../../../kubernetes/events/recordedEvent.ts';
import { fullName } from '../../host/host.ts';
import type { OutsideCall } from '../../run/gate.ts';
import type { Schedule } from '../../run/schedule.ts';
import type { Invariant, Watched } from '../invariant.ts';
import { isShutdownAnnouncement } from '../shutdownAnnouncement.ts';
import { StopRequests } from './stopRequests.ts';

/** The grace period of a terminating pod in seconds, and its deadline (`until`) in milliseconds since the epoch. */
interface Grace {
  readonly agentNumber: number;
  readonly seconds: number | undefined;
  readonly until: number | undefined;
  /** The deadline in node time, in milliseconds. */
  readonly end: number | undefined;
}

const hasGrown = (before: number | undefined, now: number | undefined): boolean =>
  before !== undefined && now !== undefined && now > before;

/** Minimum grace period of each process after SIGTERM, in seconds (C10). */
const MIN_GRACE_SECONDS = 2;

/**
 * Returns the remaining grace period of a terminating pod in seconds, first according to its actors and then to its
 * published status, because its deadline may not have been published yet.
 */
function secondsLeft({ agent, host: { clock } }: Watched, uid: string, published: Grace | undefined): number[] {
  const { termination, until = Infinity } = agent?.trees().get(uid) ?? {};
  const over = termination ? termination.at + termination.graceSeconds * 1_000 : until;
  return [Math.min(over, until) - clock.now(), (published?.end ?? Infinity) - clock.elapsed].map((ms) => ms / 1_000);
}

/**
 * Returns the minimum grace period of the first stop request of a container, in seconds. `pod` is the grace period of
 * its pod.
 */
function minGraceSeconds(watched: Watched, id: string, pod: Grace | undefined): number {
  const { host, podOf } = watched;
  const run = host.container(id);
  const { spec, metadata } = podOf(run?.podUid ?? '') ?? {};
  const container = spec && findContainerByName(spec, run?.containerName ?? '')?.container;
  // Only the general minimum applies to an unknown pod, to a container with a preStop hook, which uses up a part of the
  // grace period, and to a pod that may restart all its containers.
  if (spec === undefined || container === undefined || container.lifecycle?.preStop) return MIN_GRACE_SECONDS;
  if (containersOf(spec).some((each) => mayRestartAll(each.container))) return MIN_GRACE_SECONDS;
  const probes = [container.livenessProbe, container.startupProbe];
  const graces = [
    spec.terminationGracePeriodSeconds ?? 30,
    metadata?.deletionGracePeriodSeconds || Infinity,
    ...probes.map((probe) => probe?.terminationGracePeriodSeconds ?? Infinity),
    ...secondsLeft(watched, run?.podUid ?? '', pod),
  ];
  return Math.max(MIN_GRACE_SECONDS, Math.floor(Math.min(...graces)));
}

const mayRestartAll = ({ restartPolicyRules = [] }: Container): boolean =>
  restartPolicyRules.some(({ action }) => action === 'RestartAllContainers');

/** Tracks the grace periods of containers. `end` is in node time. */
function trackContainerGraces(
  watched: Watched,
  podGraces: ReadonlyMap<string, Grace>,
  evictedUids: ReadonlySet<string>,
  violated: (message: string) => void,
) {
  const { host, actionLog, cluster } = watched;
  // Keyed by the container, because its ID may change, or by the ID if the container does not exist.
  const graces = new Map<SimulatedContainer | string, { readonly seconds: number; readonly end: number }>();
  return {
    noteStop: (id: string, seconds: number) => {
      const container = host.container(host.runtimeFaults.currentId(id)) ?? id;
      const before = graces.get(container);
      const end = host.clock.elapsed + seconds * 1_000;
      graces.set(container, { seconds, end: Math.min(end, before?.end ?? end) });
      const uid = host.container(id)?.podUid ?? '';
      const pod = podGraces.get(uid);
      const mayGrow = isJustStarting(pod) && cluster?.hasHadPod(uid) === true;
      if (hasGrown(before?.seconds, seconds) && !mayGrow)
        violated(`container ${id}: its grace period increased from ${before?.seconds} to ${seconds} s`);
      // An eviction at a hard threshold ignores the grace period of the pod.
      const minSeconds = before || evictedUids.has(uid) ? MIN_GRACE_SECONDS : minGraceSeconds(watched, id, pod);
      if (seconds < minSeconds)
        violated(`container ${id}: it got a grace period of ${seconds} s instead of ${minSeconds} s`);
    },
    isOver: (container: SimulatedContainer): boolean => (graces.get(container)?.end ?? 0) <= host.clock.elapsed,
    /** A new agent need not continue the termination of a pod that is wanted again. */
    noteAgentStart: () => {
      for (const each of graces.keys()) {
        const container = typeof each === 'string' ? undefined : host.container(each.id);
        if (container === undefined || actionLog.wanted.has(fullName(container))) graces.delete(each);
      }
    },
  };
}

/**
 * Whether a pod has just started to terminate. A deletion through the API server may allow a longer grace period than
 * the one with which a container is already being stopped because of a change.
 */
const isJustStarting = (pod: Grace | undefined): boolean => pod !== undefined && pod.seconds === undefined;

/**
 * Returns a message for each running container that the agent knows and whose sandbox is stopped before the end of the
 * container's or the pod's grace period.
 */
function cutShort(
  { host, podOf }: Watched,
  podGraces: ReadonlyMap<string, Grace>,
  sandboxId: string,
  isOver: (container: SimulatedContainer) => boolean,
): string[] {
  const pod = podOf(host.sandboxes().find(({ id }) => id === sandboxId)?.podUid ?? '');
  const end = (pod && podGraces.get(pod.metadata.uid)?.end) ?? 0;
  const known = (pod?.status?.containerStatuses ?? []).flatMap(({ containerID = '', state }) =>
    state?.running ? [host.runtimeFaults.currentId(containerID.split('//')[1] ?? '')] : [],
  );
  const running = host.containers().filter(({ id, state }) => state === 'running' && known.includes(id));
  const early = running.filter((each) => host.clock.elapsed < end || !isOver(each));
  return early.map(
    (each) => `${fullName(each)} ${each.containerName}: its sandbox is stopped before the end of its grace period`,
  );
}

/**
 * Returns the time by which a pod must have terminated, in milliseconds since the epoch. `before` is the previous
 * value.
 */
function untilOf(change: PodChange, before: number | undefined): number | undefined {
  const { metadata, spec } = change.pod;
  // The termination of a pod that completes by itself has no deadline yet.
  const hasBegun = metadata.deletionGracePeriodSeconds !== undefined || spec.activeDeadlineSeconds !== undefined;
  if (!hasBegun) return before;
  // `tree` is a getter that computes the tree, so read it only if it is needed.
  const { state, until } = change.tree;
  return state === 'terminating.stoppingContainers.graceful' ? until : before;
}

/**
 * Returns the grace period of a deletion. For a force-deleted pod it is 0 in the metadata, but the pod terminates with
 * that of its spec.
 */
const secondsOf = ({ metadata }: Pod): number | undefined => metadata.deletionGracePeriodSeconds || undefined;

/** Returns the deadline in node time. Setting the clock does not affect a timer that is already running. */
const endOf = (until: number | undefined, before: Grace | undefined, { now, elapsed }: Schedule): number | undefined =>
  until === before?.until ? before?.end : until && until - now() + elapsed;

export const graceShrinks: Invariant = {
  number: 3,
  description:
    'A terminating container gets the grace period of its pod, or of the probe that stops it, and from then on this ' +
    'only decreases. No container is removed while running unless it was stopped before. No sandbox is stopped ' +
    'before its containers have exited or their grace periods are over.',
  follow: (watched, violated) => {
    const { host } = watched;
    const podGraces = new Map<string, Grace>();
    const stopped = new StopRequests();
    const evictedUids = new Set<string>();
    const graces = trackContainerGraces(watched, podGraces, evictedUids, violated);
    const onEvent = ({ reason, message, involved }: RecordedEvent) => {
      if (reason === 'Evicted') evictedUids.add(involved.uid);
      // The grace period of a shutdown group may be shorter than that of the pod.
      const shutDownPods = isShutdownAnnouncement({ reason, message }) ? (watched.agent?.pods() ?? []) : [];
      for (const { metadata } of shutDownPods) evictedUids.add(metadata.uid);
    };
    const onStatus = (change: PodChange) => {
      const { uid, removed, pod } = change;
      const { namespace, name } = pod.metadata;
      const seconds = secondsOf(pod);
      if (removed) return void podGraces.delete(uid);
      const { agentNumber } = watched;
      const known = podGraces.get(uid);
      // A new agent counts the grace period from its own start.
      const before = known?.agentNumber === agentNumber ? known : undefined;
      const until = untilOf(change, before?.until);
      podGraces.set(uid, { agentNumber, seconds, until, end: endOf(until, before, host.clock) });
      if (before === undefined) return;
      if (hasGrown(before.seconds, seconds))
        violated(`${namespace}/${name}: its grace period increased to ${seconds} s`);
      if (hasGrown(before.until, until))
        violated(`${namespace}/${name}: its deadline is ${until} instead of ${before.until}`);
    };
    const onCall = (call: OutsideCall) => {
      const { target, name, about, graceSeconds } = call;
      if (target !== 'runtime') return;
      stopped.noteCall(call);
      if (graceSeconds !== undefined) graces.noteStop(about, graceSeconds);
      if (name === 'stopPodSandbox')
        for (const each of cutShort(watched, podGraces, about, graces.isOver)) violated(each);
      if (name !== 'removeContainer') return;
      const container = host.container(about);
      if (container?.state !== 'running' || stopped.has(container)) return;
      violated(`${fullName(container)} ${container.containerName}: removed while running, without having been stopped`);
    };
    return {
      onStatus,
      onEvent,
      onCall,
      onEffect: (effect) => stopped.noteEffect(effect),
      onAgentStarted: graces.noteAgentStart,
    };
  },
};
