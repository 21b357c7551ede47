/** The conditions that must hold once all faults are over. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readPodList } from '../../../../cli/commands/get/readPods.ts';
import type { Cri } from '../../../../cri/client/calls.ts';
import { layoutOf } from '../../../../cri/managed/layout.ts';
import { findHierarchy, readHierarchies } from '../../../../host/cgroup/hierarchies.ts';
import { listMountsUnder } from '../../../../host/files/mountinfo.ts';
import { leasePath, nodePath } from '../../../../kubeclient/paths.ts';
import type { Pod } from '../../../../kubernetes/api/schema/pod.ts';
import type { ContainerStatus } from '../../../../kubernetes/api/schema/status.ts';
import type { TestCluster } from '../cluster.ts';
import { noAbort } from '../containerd.ts';
import { eventually } from '../eventually.ts';
import { type Expected, type Fate, NAMESPACE, STATIC } from './pods.ts';

const [RUNNING, READY] = [1, 0];

/** The desired state at the end. */
export interface Wanted {
  /** The pods that must exist, by name. */
  readonly pods: ReadonlyMap<string, Expected>;
  /** The container IDs, as in statuses, whose exit codes the runtime has lost. */
  readonly withoutExitCode: ReadonlySet<string>;
}

/**
 * Returns the container IDs, as in statuses, whose exit codes the runtime itself reports as lost. containerd 1.6 loses
 * an exit code if it is killed after it has deleted the task and before it has recorded the exit. Since 1.7, it also
 * loses the exit code of a container that exits while containerd is down.
 */
export async function withoutExitCode(cri: Cri): Promise<ReadonlySet<string>> {
  const { containers } = await cri.listContainers({ filter: undefined }, { signal: noAbort });
  const lost = await Promise.all(
    containers.map(async ({ id }) => {
      const { status } = await cri.containerStatus({ containerId: id, verbose: false }, { signal: noAbort });
      return status?.reason === 'Unknown' ? [`containerd://${id}`] : [];
    }),
  );
  return new Set(lost.flat());
}

/** Polls until `look` returns no more problems. Throws the remaining ones when the time limit is reached. */
export async function settles(what: string, look: () => Promise<readonly string[]>): Promise<void> {
  await eventually(what, async () => {
    const wrong = await look();
    if (wrong.length > 0) throw new Error(wrong.join('\n'));
    return true;
  });
}

export const containersOf = ({ status }: Pod): ContainerStatus[] => [
  ...(status?.initContainerStatuses ?? []),
  ...(status?.containerStatuses ?? []),
];

export async function apiPods({ server }: TestCluster): Promise<Pod[]> {
  return readPodList(await server.request('GET', '/api/v1/pods'));
}

const isMirror = ({ metadata: { annotations } }: Pod): boolean =>
  annotations !== undefined && Object.hasOwn(annotations, 'kubernetes.io/config.mirror');

/**
 * Lists problems of the pods at the API server, compared with the desired state and with the pods that the node
 * reports.
 */
export async function wrongInApi(cluster: TestCluster, wanted: Wanted): Promise<string[]> {
  const [pods, own] = [await apiPods(cluster), await cluster.node.pods()];
  const names = [...[...wanted.pods.keys()].map((name) => `${NAMESPACE}/${name}`), `default/${STATIC}-node`].sort();
  const there = pods.map(({ metadata: { namespace, name } }) => `${namespace}/${name}`).sort();
  const unlike = `${there}` === `${names}` ? [] : [`the API has ${there}, not ${names}`];
  return [
    ...unlike,
    ...pods.flatMap((pod) => wrongWith(pod, wanted)),
    ...pods.flatMap((pod) => statusDifference(pod, own)),
    ...(await wrongWithNode(cluster)),
  ];
}

function wrongWith(pod: Pod, wanted: Wanted): string[] {
  const { name, uid } = pod.metadata;
  const expected = expectedOf(pod, wanted);
  if (expected === undefined) return [`pod ${name} should not be there`];
  const { phase, containerStatuses: [main] = [], initContainerStatuses: inits = [] } = pod.status ?? {};
  const { exitCode } = main?.state?.terminated ?? {};
  const phaseThen = expected.fate === 'runs' ? 'Running' : exitCode === 0 ? 'Succeeded' : 'Failed';
  const isFine = (status: ContainerStatus | undefined, fate: Fate) => {
    const lost = lostReasons(status, expected, wanted);
    return isOnlyRun(status, expected.isCreatedDuringFaults ? lost : []) && hasReached(status, fate, lost);
  };
  return [
    ...(uid === expected.uid ? [] : [`pod ${name} is ${uid}, not ${expected.uid}`]),
    ...(phase === phaseThen ? [] : [`pod ${name} is ${phase}, not ${phaseThen}: ${JSON.stringify(pod.status)}`]),
    ...(isFine(main, expected.fate) ? [] : [`container main of ${name} is ${JSON.stringify(main)}`]),
    ...inits.filter((each) => !isFine(each, 0)).map((each) => `init container of ${name} is ${JSON.stringify(each)}`),
  ];
}

/** Returns the desired state of a pod. That of a mirror pod is the desired state of its static pod. */
function expectedOf(pod: Pod, { pods }: Wanted): Expected | undefined {
  const { name, uid } = pod.metadata;
  return isMirror(pod) ? { uid, fate: 'runs', isCreatedDuringFaults: false } : pods.get(name);
}

/**
 * Returns the reasons of terminated runs that no agent could have preserved: those whose start was interrupted when the
 * agent or the runtime was killed, and those whose exit codes the runtime has lost.
 */
function lostReasons(
  status: ContainerStatus | undefined,
  { isCreatedDuringFaults }: Expected,
  { withoutExitCode }: Wanted,
): readonly string[] {
  if (isCreatedDuringFaults) return ['StartError', 'Unknown', 'ContainerStatusUnknown'];
  return withoutExitCode.has(status?.containerID ?? '') ? ['Unknown'] : [];
}

/** Whether this is the only run, apart from lost ones. */
function isOnlyRun(status: ContainerStatus | undefined, lost: readonly string[]): boolean {
  const { restartCount, lastState } = status ?? {};
  const { reason } = lastState?.terminated ?? {};
  return reason === undefined ? restartCount === 0 : lost.includes(reason);
}

function hasReached(status: ContainerStatus | undefined, fate: Fate, lost: readonly string[]): boolean {
  const { state, ready } = status ?? {};
  if (fate === 'runs') return state?.running !== undefined && ready === true;
  const { exitCode, reason = '' } = state?.terminated ?? {};
  return lost.includes(reason) || (exitCode === fate && reason === (fate === 0 ? 'Completed' : 'Error'));
}

/** Describes the difference between a pod's status at the API server and the status that the node reports. */
function statusDifference({ metadata: { namespace, name }, status }: Pod, own: readonly Pod[]): string[] {
  const known = own.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
  const [reported, mine] = [status, known?.status].map((each) =>
    JSON.stringify(
      [
        each?.phase,
        each?.podIP,
        each?.startTime,
        (each?.conditions ?? []).map(({ type, status: is, reason }) => [type, is, reason]).sort(),
        [...(each?.initContainerStatuses ?? []), ...(each?.containerStatuses ?? [])].map((container) => [
          container.name,
          container.state,
          container.ready,
          container.restartCount,
          container.containerID,
        ]),
      ],
      sorted,
    ),
  );
  return reported === mine ? [] : [`the API has pod ${name} as ${reported}, the node as ${mine}`];
}

/** Sorts the fields of objects, as a replacer of JSON.stringify. */
const sorted = (_name: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;

async function wrongWithNode({ server }: TestCluster): Promise<string[]> {
  const node = JSON.stringify(await server.request('GET', nodePath('node')));
  const lease = JSON.stringify(await server.request('GET', leasePath('node')));
  const renewed = Date.parse(/"renewTime":"([^"]*)"/.exec(lease)?.[1] ?? '');
  const isOld = Date.now() - renewed > 20_000;
  return [
    ...(node.includes('"reason":"KubeletReady"') ? [] : [`the node is not ready: ${node}`]),
    ...(isOld ? [`the lease is old: ${lease}`] : []),
  ];
}

/** Lists differences between what the runtime runs and what the API server shows. */
export async function wrongInRuntime(cluster: TestCluster, cri: Cri): Promise<string[]> {
  const pods = await apiPods(cluster);
  const { containers } = await cri.listContainers({ filter: undefined }, { signal: noAbort });
  const { items } = await cri.listPodSandbox({ filter: undefined }, { signal: noAbort });
  const runs = pods.flatMap(containersOf).filter(({ state }) => state?.running);
  const reported = runs.map(({ containerID = '' }) => containerID.replace('containerd://', '')).sort();
  const real = containers
    .filter(({ state }) => state === RUNNING)
    .map(({ id }) => id)
    .sort();
  const uids = pods
    .filter(({ status }) => status?.phase === 'Running')
    .map(uidAtRuntime)
    .sort();
  const ready = items
    .filter(({ state }) => state === READY)
    .map(({ metadata }) => metadata?.uid ?? '')
    .sort();
  return [
    ...(`${reported}` === `${real}` ? [] : [`containers ${real} run, not ${reported}`]),
    ...(`${uids}` === `${ready}` ? [] : [`sandboxes of ${ready} are ready, not of ${uids}`]),
  ];
}

/** Returns the pod's UID at the runtime. For a mirror pod, this is the UID of its static pod. */
const uidAtRuntime = ({ metadata: { uid, annotations } }: Pod): string =>
  annotations?.['kubernetes.io/config.mirror'] ?? uid;

/**
 * Lists the containers that have not run exactly once or, if they were created during the faults, that have run more
 * often than their restart count allows.
 */
export async function wrongRuns({ node: { shared } }: TestCluster, pods: readonly Pod[], wanted: Wanted) {
  const found = pods.flatMap((pod) =>
    containersOf(pod).map(async ({ name, restartCount }) => {
      const file = join(shared, `${uidAtRuntime(pod)}.${name}`);
      const runCount = (await readFile(file, 'utf8').catch(() => '')).split('\n').length - 1;
      const isFine = expectedOf(pod, wanted)?.isCreatedDuringFaults ? runCount <= restartCount + 1 : runCount === 1;
      return isFine ? [] : [`container ${name} of ${pod.metadata.name} has begun ${runCount} times`];
    }),
  );
  return (await Promise.all(found)).flat();
}

/** Lists what is left of deleted and completed pods: sandboxes, directories, mounts, logs and cgroups. */
export async function leftBehind(cluster: TestCluster, cri: Cri): Promise<string[]> {
  const { rootDir, podLogs, containerdDirectory } = cluster.node;
  const pods = await apiPods(cluster);
  const known = pods.map(uidAtRuntime);
  const running = pods.filter(({ status }) => status?.phase === 'Running').map(uidAtRuntime);
  const { items } = await cri.listPodSandbox({ filter: undefined }, { signal: noAbort });
  const { containers } = await cri.listContainers({ filter: undefined }, { signal: noAbort });
  const directory = join(rootDir, 'pods');
  const mounts = (await listMountsUnder(directory, noAbort)).map(({ path }) => path);
  const strange = (what: string, names: readonly string[], uids: readonly string[]) =>
    names.filter((name) => !uids.some((uid) => name.includes(uid))).map((name) => `${what} ${name} is left`);
  return [
    ...strange(
      'a sandbox of',
      items.map(({ metadata }) => metadata?.uid ?? ''),
      known,
    ),
    ...strange(
      'a container of',
      containers.map(({ labels }) => labels['io.kubernetes.pod.uid'] ?? ''),
      known,
    ),
    ...strange('directory', await readdir(directory), known),
    ...strange('logs', await readdir(podLogs), known),
    ...strange('mount', mounts, running),
    ...strange('cgroup', await podCgroups(layoutOf(containerdDirectory).cgroupParent), running),
  ];
}

/** Returns the cgroups of pods in the hierarchy of the memory controller. */
async function podCgroups(parent: string): Promise<string[]> {
  const root = findHierarchy(await readHierarchies(), 'memory')?.root ?? '';
  const names = await readdir(join(root, parent, 'kubepods'), { recursive: true }).catch(() => []);
  return names.filter((name) => /(^|\/)pod[^/]*$/.test(name));
}
