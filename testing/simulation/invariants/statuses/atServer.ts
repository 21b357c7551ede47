import { mergedStatus } from '../../../../kubernetes/status/mergedStatus.ts';
import { type StatusJson, statusPatch } from '../../../../kubernetes/status/statusPatch.ts';
import type { ApiPod, PodWrite } from '../../cluster/apiPod.ts';
import type { SimulatedCluster } from '../../cluster/simulatedCluster.ts';
import type { Invariant, Watched } from '../invariant.ts';
import { QuietTime } from '../progress/quietTime.ts';
import { TokenRequests } from '../volumes/tokenRequests.ts';

/** Rank of the terminal phases. */
const ENDED = 3;

/** Order in which a pod goes through its phases. */
const RANKS: ReadonlyMap<string, number> = new Map([
  ...([
    ['Pending', 1],
    ['Running', 2],
    ['Succeeded', ENDED],
    ['Failed', ENDED],
  ] as const),
]);
const rankOf = (phase: string): number => RANKS.get(phase) ?? 0;

const isTerminal = (phase: string): boolean => rankOf(phase) === ENDED;

/** Maximum time in milliseconds until a status that has to be sent again reaches the API server. */
const LATE_MS = 15_000;

/**
 * Compares the phase of a pod with the previous one. As with the kubelet, a pod that has lost all its containers starts
 * over, but not while a regular container runs.
 */
function phaseRegressions({ actionLog, host }: Watched, { before, now: { uid, pod, phase } }: PodWrite): string[] {
  if (before === undefined || before.phase === phase) return [];
  const regular = actionLog.versionsOf(pod).flatMap(({ spec }) => spec.containers.map(({ name }) => name));
  const latest = host.clock.now() - LATE_MS;
  const runs = host.running(
    ({ podUid, containerName, startedAt = latest }) =>
      podUid === uid && regular.includes(containerName) && startedAt < latest,
  );
  const hasRegressed = isTerminal(before.phase) || (rankOf(phase) < rankOf(before.phase) && runs.length > 0);
  return hasRegressed ? [`${pod}: its phase at the API server went from ${before.phase} to ${phase}`] : [];
}

/** Returns what is wrong with a pod that the node has deleted at the API server. */
function wrongDeletion({ host }: Watched, { uid, pod, phase }: ApiPod): string[] {
  const running = host.running((each) => each.podUid === uid);
  return [
    ...(isTerminal(phase) ? [] : [`${pod}: it was deleted from the API server while it was ${phase || 'new'}`]),
    ...running.map((each) => `${pod}: it was deleted from the API server, but ${each.containerName} is still running`),
  ];
}

/** Returns the differences between the node and the API server at rest. */
function differencesIn({ agent }: Watched, cluster: SimulatedCluster): string[] {
  if (agent === undefined) return [];
  const nodePods = new Map(agent.pods().map((each) => [each.metadata.uid, each]));
  const serverPods = cluster.pods();
  const serverUids = new Set(serverPods.map(({ uid, mirroredUid = uid }) => mirroredUid));
  const unreportedPods = [...nodePods].filter(([uid]) => !serverUids.has(uid));
  const missing = unreportedPods.map(
    ([, { metadata }]) => `the API server does not have ${metadata.namespace}/${metadata.name}`,
  );
  const wrong = serverPods.flatMap(({ uid, pod, isDeleted, status, mirroredUid = uid }) => {
    if (isDeleted) return [`${pod} is deleted, but still at the API server`];
    const own = nodePods.get(mirroredUid)?.status;
    if (own === undefined) return [`the API server has ${pod}, but the node does not`];
    const patch = statusPatch(status, mergedStatus(status, jsonOf(own)));
    // Other clients may decide the terminal phase of a pod, except for mirror pods.
    const hasOtherPhase = mirroredUid !== uid && own.phase !== status.phase;
    if (hasOtherPhase) return [`${pod} is ${String(status.phase)} at the API server, but ${own.phase} on the node`];
    return patch === undefined ? [] : [`the API server has an outdated status of ${pod}: ${JSON.stringify(patch)}`];
  });
  return [...missing, ...wrong];
}

const jsonOf = (value: object): StatusJson => JSON.parse(JSON.stringify(value));

export const atServer: Invariant = {
  number: 10,
  description:
    'No phase regresses at the API server. A pod is deleted there only after its termination was reported and ' +
    'nothing of it runs any more. At rest, the API server has the same status of each pod as the node. No patch ' +
    'repeats what the API server has, and while nothing happens, the node sends no requests about pods. A token is ' +
    'requested only when the last one gets old, and never for a pod that is gone.',
  follow: (watched, violated) => {
    const { cluster } = watched;
    if (cluster === undefined) return {};
    const quiet = new QuietTime(watched);
    const tokens = new TokenRequests(watched);
    const note = (write: PodWrite) => {
      const { type, now } = write;
      quiet.disturb();
      const wrong = now.mirroredUid === undefined ? phaseRegressions(watched, write) : [];
      // Users may force-delete a running pod.
      const isDeletion = type === 'DELETED' && now.mirroredUid === undefined && cluster.isDeletedByNode(now);
      for (const each of [...wrong, ...(isDeletion ? wrongDeletion(watched, now) : [])]) violated(each);
    };
    cluster.watchPods(note);
    cluster.watchObjects(quiet.disturb);
    cluster.onToken((request) => {
      for (const each of tokens.note(request)) violated(each);
    });
    cluster.onIdlePatch((path, patch) => violated(`a patch of ${path} has changed nothing: ${patch}`));
    const disturb = () => {
      quiet.disturb();
      tokens.disturb();
    };
    return {
      ...quiet.hooks(),
      onAgentStarted: disturb,
      beforeJump: disturb,
      onCall: (call, fault) => {
        tokens.noteCall(call, fault);
        const isNeedless = quiet.hasNoCause(call, fault);
        if (isNeedless) violated(`needless request to the API server: ${call.name} ${call.about}`);
      },
      atRest: () => {
        for (const each of differencesIn(watched, cluster)) violated(each);
      },
    };
  },
};
