import type { AnyActorRef } from 'xstate';
import type { SimulatedSandbox } from '../../../../cri/simulated/objects/views.ts';
import type { AdmissionContext, AdmissionEntry } from '../../../../machines/admission/context.ts';
import type { NodeContext } from '../../../../machines/node/context.ts';
import { isDesired } from '../../../../machines/node/pods/wanted.ts';
import { fullName } from '../../host/host.ts';
import type { Invariant, Watched } from '../invariant.ts';

/** Returns descriptions of pods and running containers that are not wanted. */
function unwanted({ agent, actionLog, host }: Watched): string[] {
  if (agent === undefined) return ['no agent is running'];
  const pods = new Set(agent.pods().map(({ metadata: { namespace, name } }) => `${namespace}/${name}`));
  const running = new Set(host.running().map(fullName));
  const unwantedOf = (names: ReadonlySet<string>) => [...names].filter((name) => !actionLog.wanted.has(name));
  return [
    ...unwantedOf(pods).map((name) => `${name} is not wanted, but exists`),
    ...unwantedOf(running).map((name) => `containers of ${name} are still running`),
  ];
}

/** Returns descriptions of what is left of pods that are gone. */
function remains({ agent, root, host }: Watched): string[] {
  if (agent === undefined) return [];
  const uids = [...agent.pods().map(({ metadata }) => metadata.uid), ...waiting(root)];
  const isGone = (uid: string) => !uids.includes(uid);
  const { start, pull } = agent.overview().limiters;
  const slots = [...start.held, ...start.queue, ...pull.held, ...pull.queue];
  const trees = [...agent.trees()].filter(([uid]) => isGone(uid));
  return [
    ...host.sandboxes().flatMap((each) => (isGone(each.podUid) ? [`sandbox ${idOf(each)} of ${fullName(each)}`] : [])),
    ...host
      .containers()
      .flatMap((each) => (isGone(each.podUid) ? [`container ${each.containerName} of ${fullName(each)}`] : [])),
    ...host.podRemains(uids),
    ...slots.filter((key) => isGone(key.split('/')[0] ?? '')).map((key) => `limiter slot of ${key}`),
    ...admitted(root).flatMap(({ uid, fullName: name }) => (isGone(uid) ? [`the admission entry of ${name}`] : [])),
    ...trees.map(([uid]) => `the actor of pod ${uid}`),
  ];
}

/**
 * Returns the UIDs of wanted pods that wait until an earlier pod of the same name is gone. If that was a previous
 * incarnation with the same UID, its last dead containers remain meanwhile (`ShouldPodContentBeRemoved` in
 * pkg/kubelet/pod_workers.go).
 */
function waiting(root: AnyActorRef | undefined): readonly string[] {
  // Safe cast: the root machine has this context.
  const node = root?.getSnapshot().context as NodeContext;
  const requests = admission(root)?.waitingRequests ?? [];
  return requests.flatMap(({ uid, awaitsName }) => (awaitsName && isDesired(node, uid) ? [uid] : []));
}

const idOf = ({ id }: SimulatedSandbox): string => id.slice(0, 8);

/** Returns the pods that the admission actor knows. */
function admitted(root: AnyActorRef | undefined): readonly Pick<AdmissionEntry, 'uid' | 'fullName'>[] {
  const context = admission(root);
  return context === undefined ? [] : [...context.entries, ...context.waitingRequests, ...context.refusedUpdates];
}

function admission(root: AnyActorRef | undefined): AdmissionContext | undefined {
  const { admission: ref }: { admission?: AnyActorRef } = root?.getSnapshot().children ?? {};
  // Safe cast: the admission machine has this context.
  return ref?.getSnapshot().context as AdmissionContext | undefined;
}

export const nothingLeft: Invariant = {
  number: 6,
  description:
    'Within ten minutes after faults have ended, all unwanted pods have terminated, and nothing of them is left: no ' +
    'sandbox, container, mount, directory, log, cgroup, slot, admission, fact or actor.',
  follow: (watched, violated) => ({
    atRest: () => {
      for (const each of [...unwanted(watched), ...remains(watched)]) violated(each);
    },
  }),
};
