import type { SimulatedContainer } from '../../../../cri/simulated/objects/views.ts';
import { isSidecar } from '../../../../kubernetes/api/pods/containers.ts';
import type { Container } from '../../../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../../../kubernetes/api/schema/pod.ts';
import { isTerminalPhase } from '../../../../kubernetes/status/phase.ts';
import { podOfManifest } from '../../users/validManifest.ts';
import type { Invariant, Watched } from '../invariant.ts';
import { Refusals } from '../resources/refusals.ts';
import { ObjectVersions } from '../volumes/objectVersions.ts';
import { mayMissObject } from '../volumes/podNeeds.ts';
import { type ComparedPod, differencesOf } from './containerDifferences.ts';
import { mayStayEnded, PodEnds } from './podEnds.ts';

/**
 * Maximum time in milliseconds that a container may take to start after its back-off, because it waits for a start slot
 * and for the hooks of other containers.
 */
const STARTS_WITHIN_MS = 30_000;

/** A wanted pod with its containers at the runtime. */
interface Compared extends ComparedPod {
  readonly watched: Watched;
  readonly ends: PodEnds;
  readonly containers: readonly SimulatedContainer[];
  /** Whether an object that the pod needs may be missing, so that its containers may wait for it. */
  readonly mayMissObject: boolean;
}

/**
 * Returns what is wrong with a container that should run but does not. It may only wait for its back-off or for a
 * missing object.
 */
function missingContainer({ watched, ends, uid, mayMissObject }: Compared, { name }: Container): string[] {
  if (mayMissObject) return [];
  const { host, longestBackOffMs } = watched;
  const end = ends.lastEndOf(uid, name);
  if (end === undefined) return [`${name} has never run`];
  // The back-off ends either by the wall clock, which may have been set meanwhile, or by a timer.
  const waited = Math.min(host.clock.elapsed - end.elapsed, host.clock.now() - end.at);
  return waited <= longestBackOffMs + STARTS_WITHIN_MS ? [] : [`${name} has not been restarted`];
}

/** Checks the init containers and sidecars. `areDone` reports whether the regular containers may run. */
function checkInits(compared: Compared): { readonly wrong: readonly string[]; readonly areDone: boolean } {
  const { wanted, ends, uid, containers } = compared;
  const { initContainers = [], containers: regular } = wanted.spec;
  const latest = containers.reduce((most, { sandbox }) => Math.max(most, sandbox.attempt), 0);
  const inLatest = containers.filter(({ sandbox }) => sandbox.attempt === latest).map((each) => each.containerName);
  const haveBegun = regular.some(({ name }) => inLatest.includes(name));
  const wrong: string[] = [];
  for (const init of initContainers) {
    const run = runOf(compared, init.name);
    if (run !== undefined) {
      wrong.push(...differencesOf(compared, init, run));
      if (!isSidecar(init)) return { wrong, areDone: false };
    } else if (isSidecar(init) || !(haveBegun || ends.lastEndOf(uid, init.name)?.exitCode === 0)) {
      return { wrong: [...wrong, ...missingContainer(compared, init)], areDone: haveBegun };
    }
  }
  return { wrong, areDone: true };
}

const runOf = ({ containers }: Compared, wanted: string): SimulatedContainer | undefined =>
  containers.find(({ containerName, state }) => containerName === wanted && state === 'running');

/** Returns the differences between a pod in a non-terminal phase and its manifest. */
function differences(compared: Compared, phase: string | undefined): string[] {
  const { wanted, ends, uid } = compared;
  const { wrong, areDone } = checkInits(compared);
  if (!areDone) return [...wrong];
  const runs = wanted.spec.containers.some(({ name }) => runOf(compared, name) !== undefined);
  return [
    ...wrong,
    ...(runs && phase !== 'Running' ? [`is running, but has the phase ${phase}`] : []),
    ...wanted.spec.containers.flatMap((each) => {
      const run = runOf(compared, each.name);
      if (run !== undefined) return differencesOf(compared, each, run);
      const end = ends.lastEndOf(uid, each.name);
      return end && mayStayEnded(wanted.spec, each, end) ? [] : missingContainer(compared, each);
    }),
  ];
}

/** Data that can explain why a container does not run. */
interface Reasons {
  readonly ends: PodEnds;
  readonly refusals: Refusals;
  /**
   * Number of former manifests of each pod, by UID, that no longer count because the node has removed the pod since.
   */
  readonly obsoleteCounts: ReadonlyMap<string, number>;
  readonly versions: ObjectVersions;
}

/**
 * Returns what is wrong with the pods of a full name. If several files define a pod of this name, each is a separate
 * pod, and only one of them runs.
 */
function wrongOf(name: string, watched: Watched, reasons: Reasons): readonly string[] {
  const { agent, actionLog } = watched;
  const named = agent?.pods().filter(({ metadata }) => `${metadata.namespace}/${metadata.name}` === name) ?? [];
  const others = named.filter(({ metadata }) => !actionLog.mayBeWanted(name, metadata.uid));
  const isOne = named.length === 1 || (named.length > 1 && actionLog.filesOf(name).length > 1);
  if (others.length > 0 || !isOne)
    return [`is wanted, but the node has these pods of this name: ${named.map(uidOf).join(', ')}`];
  const wrong = named.map((pod) => wrongWith(pod, name, watched, reasons));
  return wrong.find((each) => each.length === 0) ?? wrong[0] ?? [];
}

const uidOf = ({ metadata }: Pod): string => metadata.uid;

function wrongWith(pod: Pod, name: string, watched: Watched, reasons: Reasons): string[] {
  const { ends, refusals, obsoleteCounts } = reasons;
  const { actionLog, host } = watched;
  const { uid } = pod.metadata;
  const all = actionLog.versionsOf(name);
  const versions = all.slice(Math.min(obsoleteCounts.get(uid) ?? 0, all.length - 1)).map(podOfManifest);
  const wanted = versions.at(-1) ?? pod;
  const containers = host.containers().filter((each) => each.podUid === uid);
  const isShort = () => refusals.isShort({ ...wanted, metadata: pod.metadata });
  const isMissingObject = mayMissObject(wanted.spec, reasons.versions);
  const compared = {
    watched,
    host,
    ends,
    uid,
    wanted,
    versions,
    containers,
    mayMissObject: isMissingObject,
    isShort,
  };
  if (!isTerminalPhase(pod.status?.phase)) return differences(compared, pod.status?.phase);
  const running = containers.filter(({ state }) => state === 'running');
  if (running.length > 0) return running.map((each) => `has terminated, but ${each.containerName} is still running`);
  const isExplained = refusals.explain(pod) || ends.explain(pod, versions) || actionLog.hasEnded(uid);
  return isExplained ? [] : [`is ${pod.status?.phase} without a reason`];
}

export const runsAsWanted: Invariant = {
  number: 6,
  description:
    'Within ten minutes after faults have ended, the wanted pods run as specified: each container with its image, ' +
    'command, size, mounts and user, unless it has terminated for good or is about to start. A pod has terminated ' +
    'only because of its containers, a deadline or a shortage of resources, and waits only for an object that may ' +
    'be missing.',
  follow: (watched, violated) => {
    const [ends, refusals] = [new PodEnds(watched), new Refusals(watched)];
    const { actionLog } = watched;
    const obsoleteCounts = new Map<string, number>();
    const versions = new ObjectVersions(watched);
    return {
      onCall: (call) => ends.noteCall(call),
      onEvent: (event) => ends.noteEvent(event),
      onEffect: (effect) => ends.note(effect),
      afterStep: () => ends.noteTime(),
      onStatus: (change) => {
        ends.noteStatus(change);
        refusals.noteStatus(change);
        const { uid, removed, pod } = change;
        const name = `${pod.metadata.namespace}/${pod.metadata.name}`;
        // A removed pod whose containers still exist continues to run if it is wanted again before its agent has
        // noticed the removal.
        if (!removed || watched.host.containers().some(({ podUid }) => podUid === uid)) return;
        // The current manifest may be the one that has replaced the removed pod, so it still counts.
        obsoleteCounts.set(uid, actionLog.versionsOf(name).length - (actionLog.mayBeWanted(name, uid) ? 1 : 0));
      },
      atRest: () => {
        for (const name of actionLog.wanted.keys())
          for (const wrong of wrongOf(name, watched, { ends, refusals, obsoleteCounts, versions }))
            violated(`${name} ${wrong}`);
      },
    };
  },
};
