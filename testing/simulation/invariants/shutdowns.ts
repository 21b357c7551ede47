/**
 * Invariants for nodes that handle the shutdown of their host. A node without the `shutdown` configuration ignores it.
 */
import type { SimulatedContainer } from '../../../cri/simulated/objects/views.ts';
import { totalPeriodMs } from '../../../kubernetes/shutdown/periods.ts';
import { childrenOf } from '../../../machines/shared/views/actorTree.ts';
import type { PodRef } from '../../../machines/shared/views/views.ts';
import type { Invariant, Watched } from './invariant.ts';
import { isShutdownAnnouncement } from './shutdownAnnouncement.ts';

/**
 * Returns the running containers of this node's pods, which the node is terminating because of the shutdown or has yet
 * to terminate.
 */
const ownRunning = ({ host, podOf }: Watched): SimulatedContainer[] =>
  host.running().filter(({ podUid }) => podOf(podUid) !== undefined);

const periodsOf = ({ agent }: Watched) => agent?.input.shutdown?.periods ?? [];

/** Whether the node is terminating the pod because of a shutdown. */
function isShutDown({ root }: Watched, uid: string): boolean {
  const pods = root === undefined ? [] : childrenOf<PodRef>(root.getSnapshot(), `pod/${uid}`);
  return pods.some((pod) => pod.getSnapshot().context.termination?.reason === 'Terminated');
}

const noEarlyRelease: Invariant = {
  description: 'The node delays a shutdown until its pods have stopped or their time is over.',
  follow: (watched, violated) => {
    /** Node time at which a delayed shutdown was announced, in milliseconds. */
    let announcedAt: number | undefined;
    return {
      onAgentStarted: () => {
        announcedAt = undefined;
      },
      // The node still holds the inhibitor lock when it records the event, but may release it in the same step.
      onEvent: (event) => {
        if (isShutdownAnnouncement(event)) announcedAt = watched.host.clock.elapsed;
      },
      afterStep: () => {
        const { logind, clock } = watched.host;
        if (!logind.isShuttingDown || watched.agent === undefined) announcedAt = undefined;
        else if (logind.isDelayed) announcedAt ??= clock.elapsed;
        else if (announcedAt !== undefined) {
          const delayedMs = clock.elapsed - announcedAt;
          announcedAt = undefined;
          const [container] = ownRunning(watched);
          if (container !== undefined && delayedMs < totalPeriodMs(periodsOf(watched)))
            violated(`the shutdown is no longer delayed after ${delayedMs} ms, but ${container.containerName} runs`);
        }
      },
    };
  },
};

const lowestPriorityFirst: Invariant = {
  description: 'No pod is terminated for a shutdown while a pod of a lower group has time left.',
  follow: (watched, violated) => {
    let announcedAt = 0;
    let isAnnounced = false;
    const priorityOf = (uid: string) => watched.podOf(uid)?.spec.priority ?? 0;
    return {
      onEvent: (event) => {
        if (isShutdownAnnouncement(event)) announcedAt = watched.host.clock.elapsed;
      },
      // Tracks the shutdown itself, because the rule applies even before the node has noticed it.
      afterStep: () => {
        const { logind, clock } = watched.host;
        const wasAnnounced = isAnnounced;
        isAnnounced = logind.isShuttingDown && (wasAnnounced || logind.isDelayed);
        if (isAnnounced && !wasAnnounced) announcedAt = clock.elapsed;
      },
      onCall: ({ name, about }) => {
        if (name !== 'stopContainer') return;
        const running = ownRunning(watched);
        const uid = running.find(({ id }) => id === about)?.podUid;
        if (uid === undefined || !isShutDown(watched, uid)) return;
        // The first period is that of the group with the lowest priority, whose pods have at least this much time.
        const [lowest, next] = periodsOf(watched);
        if (lowest === undefined || next === undefined || priorityOf(uid) < next.priority) return;
        const hasTime = watched.host.clock.elapsed - announcedAt < lowest.graceSeconds * 1_000;
        const lower = running.find((each) => priorityOf(each.podUid) < next.priority);
        if (hasTime && lower !== undefined)
          violated(`pod ${uid} is stopped while ${lower.containerName} of a lower priority runs`);
      },
    };
  },
};

const noStartDuringShutdown: Invariant = {
  description: 'No container of a pod that arrives during a shutdown is started.',
  follow: (watched, violated) => {
    /** UIDs of the pods that the node knew when the shutdown was announced. Undefined if there is no shutdown. */
    let uids: ReadonlySet<string> | undefined;
    const knownUids = () => new Set(watched.agent?.pods().map(({ metadata }) => metadata.uid));
    return {
      onAgentStarted: () => {
        uids = undefined;
      },
      onEvent: (event) => {
        if (event.reason !== 'Shutdown' || event.involved.kind !== 'Node') return;
        uids = isShutdownAnnouncement(event) ? knownUids() : undefined;
      },
      // Tracks the shutdown itself, because the rule applies even before the node has noticed it.
      afterStep: () => {
        const { logind } = watched.host;
        if (logind.isShuttingDown && logind.isDelayed) uids ??= knownUids();
      },
      onEffect: ({ kind, sandbox, container }) => {
        if (kind !== 'started' || uids === undefined || uids.has(sandbox.podUid)) return;
        if (watched.podOf(sandbox.podUid) !== undefined)
          violated(`${container?.containerName ?? 'a sandbox'} of pod ${sandbox.podUid} is started during a shutdown`);
      },
    };
  },
};

export const shutdownInvariants: readonly Invariant[] = [noEarlyRelease, lowestPriorityFirst, noStartDuringShutdown];
