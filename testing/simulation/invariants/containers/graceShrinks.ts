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

/** The grace period of a terminating pod and its end in milliseconds since the epoch. */
interface Grace {
  readonly agentNumber: number;
  readonly seconds: number | undefined;
  readonly until: number | undefined;
  /** The end in node time. */
  readonly end: number | undefined;
}

const hasGrown = (before: number | undefined, now: number | undefined): boolean =>
  before !== undefined && now !== undefined && now > before;

/** The minimum grace period of each process after SIGTERM (C10). */
const LEAST_SECONDS = 2;

/**
 * Returns the remaining grace period of a terminating pod in seconds, from its tree and from its published status. Its
 * end may not have been published yet.
 */
function secondsLeft({ agent, host: { clock } }: Watched, uid: string, told: Grace | undefined): number[] {
  const { termination, until = Infinity } = agent?.trees().get(uid) ?? {};
  const over = termination ? termination.at + termination.graceSeconds * 1_000 : until;
  return [Math.min(over, until) - clock.now(), (told?.end ?? Infinity) - clock.elapsed].map((ms) => ms / 1_000);
}

/**
 * Returns the minimum grace period of the first stop of a container, in seconds. `pod` is the grace period of its pod.
 */
function leastGrace(watched: Watched, id: string, pod: Grace | undefined): number {
  const { host, podOf } = watched;
  const found = host.container(id);
  const { spec, metadata } = podOf(found?.podUid ?? '') ?? {};
  const container = spec && findContainerByName(spec, found?.containerName ?? '')?.container;
  // No stricter limit applies to an unknown pod, to a container with a preStop hook, which uses up a part of the grace
  // period, and to a pod that may restart all its containers.
  if (spec === undefined || container === undefined || container.lifecycle?.preStop) return LEAST_SECONDS;
  if (containersOf(spec).some((each) => mayRestartAll(each.container))) return LEAST_SECONDS;
  const probes = [container.livenessProbe, container.startupProbe];
  const graces = [
    spec.terminationGracePeriodSeconds ?? 30,
    metadata?.deletionGracePeriodSeconds || Infinity,
    ...probes.map((probe) => probe?.terminationGracePeriodSeconds ?? Infinity),
    ...secondsLeft(watched, found?.podUid ?? '', pod),
  ];
  return Math.max(LEAST_SECONDS, Math.floor(Math.min(...graces)));
}

const mayRestartAll = ({ restartPolicyRules = [] }: Container): boolean =>
  restartPolicyRules.some(({ action }) => action === 'RestartAllContainers');

/** Tracks the grace periods of containers. `end` is in node time. */
function trackContainerGraces(
  watched: Watched,
  ofPods: ReadonlyMap<string, Grace>,
  evictedUids: ReadonlySet<string>,
  violated: (message: string) => void,
) {
  const { host, actionLog, cluster } = watched;
  // Keyed by the container, because its ID may change. A missing container has only its ID.
  const graces = new Map<SimulatedContainer | string, { readonly seconds: number; readonly end: number }>();
  return {
    noteStop: (id: string, seconds: number) => {
      const container = host.container(host.runtimeFaults.currentId(id)) ?? id;
      const before = graces.get(container);
      const end = host.clock.elapsed + seconds * 1_000;
      graces.set(container, { seconds, end: Math.min(end, before?.end ?? end) });
      const uid = host.container(id)?.podUid ?? '';
      const pod = ofPods.get(uid);
      const mayGrow = isJustStarting(pod) && cluster?.hasHadPod(uid) === true;
      if (hasGrown(before?.seconds, seconds) && !mayGrow)
        violated(`container ${id}: its grace grew from ${before?.seconds} to ${seconds} s`);
      // An eviction at a hard threshold allows a second, whatever the pod has.
      const least = before || evictedUids.has(uid) ? LEAST_SECONDS : leastGrace(watched, id, pod);
      if (seconds < least) violated(`container ${id}: it was given ${seconds} s to end, not ${least}`);
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
 * Whether a pod has just started to terminate. Deletion by an API server may allow a longer grace period than a
 * container that is being stopped for a change has.
 */
const isJustStarting = (pod: Grace | undefined): boolean => pod !== undefined && pod.seconds === undefined;

/**
 * Returns running containers, as far as the agent knows them, whose sandbox is stopped before the end of their grace
 * period or that of their pod.
 */
function cutShort(
  { host, podOf }: Watched,
  given: ReadonlyMap<string, Grace>,
  sandboxId: string,
  isOver: (container: SimulatedContainer) => boolean,
): string[] {
  const pod = podOf(host.sandboxes().find(({ id }) => id === sandboxId)?.podUid ?? '');
  const end = (pod && given.get(pod.metadata.uid)?.end) ?? 0;
  const known = (pod?.status?.containerStatuses ?? []).flatMap(({ containerID = '', state }) =>
    state?.running ? [host.runtimeFaults.currentId(containerID.split('//')[1] ?? '')] : [],
  );
  const running = host.containers().filter(({ id, state }) => state === 'running' && known.includes(id));
  const early = running.filter((each) => host.clock.elapsed < end || !isOver(each));
  return early.map((each) => `${fullName(each)} ${each.containerName}: its sandbox is stopped before its time`);
}

/** Returns the time by which a pod must have terminated, given the previous value. */
function untilOf(change: PodChange, before: number | undefined): number | undefined {
  const { metadata, spec } = change.pod;
  // The termination of a pod that completes by itself has no deadline yet.
  const hasBegun = metadata.deletionGracePeriodSeconds !== undefined || spec.activeDeadlineSeconds !== undefined;
  if (!hasBegun) return before;
  // `tree` is computed on access.
  const { state, until } = change.tree;
  return state === 'terminating.stoppingContainers.graceful' ? until : before;
}

/** A force-deleted pod has a grace period of 0 in its object, but terminates with its own. */
const secondsOf = ({ metadata }: Pod): number | undefined => metadata.deletionGracePeriodSeconds || undefined;

/** The end in node time. A timer that was set before a clock change is not affected by it. */
const endOf = (until: number | undefined, before: Grace | undefined, { now, elapsed }: Schedule): number | undefined =>
  until === before?.until ? before?.end : until && until - now() + elapsed;

export const graceShrinks: Invariant = {
  number: 3,
  description:
    'What ends has the grace of its pod, or of the probe that ends it, and from then on that only shrinks. No container ' +
    'is removed while it runs unless it was stopped before. No sandbox is stopped before its containers have ended or ' +
    'their grace is over.',
  follow: (watched, violated) => {
    const { host } = watched;
    const given = new Map<string, Grace>();
    const stopped = new StopRequests();
    const evictedUids = new Set<string>();
    const graces = trackContainerGraces(watched, given, evictedUids, violated);
    const onEvent = ({ reason, message, involved }: RecordedEvent) => {
      if (reason === 'Evicted') evictedUids.add(involved.uid);
      // The time of a group may be shorter than the grace period of the pod.
      const shutDownPods = isShutdownAnnouncement({ reason, message }) ? (watched.agent?.pods() ?? []) : [];
      for (const { metadata } of shutDownPods) evictedUids.add(metadata.uid);
    };
    const onStatus = (change: PodChange) => {
      const { uid, removed, pod } = change;
      const { namespace, name } = pod.metadata;
      const seconds = secondsOf(pod);
      if (removed) return void given.delete(uid);
      const { agentNumber } = watched;
      const known = given.get(uid);
      // A new agent counts from its own start.
      const before = known?.agentNumber === agentNumber ? known : undefined;
      const until = untilOf(change, before?.until);
      given.set(uid, { agentNumber, seconds, until, end: endOf(until, before, host.clock) });
      if (before === undefined) return;
      if (hasGrown(before.seconds, seconds)) violated(`${namespace}/${name}: its grace grew to ${seconds} s`);
      if (hasGrown(before.until, until))
        violated(`${namespace}/${name}: it may take until ${until}, not ${before.until}`);
    };
    const onCall = (call: OutsideCall) => {
      const { target, name, about, graceSeconds } = call;
      if (target !== 'runtime') return;
      stopped.noteCall(call);
      if (graceSeconds !== undefined) graces.noteStop(about, graceSeconds);
      if (name === 'stopPodSandbox') for (const each of cutShort(watched, given, about, graces.isOver)) violated(each);
      if (name !== 'removeContainer') return;
      const container = host.container(about);
      if (container?.state !== 'running' || stopped.has(container)) return;
      violated(`${fullName(container)} ${container.containerName}: removed while it runs, without having been stopped`);
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
