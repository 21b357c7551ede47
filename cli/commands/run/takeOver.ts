/** `run --take-over`: this agent adopts or terminates the pods that another kubelet left below the root directory. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  createOwnerMark,
  findPodsToTakeOver,
  listOwnedUids,
  parseLogFolder,
  SIMULATED_ENDPOINT,
} from '../../../actors/store/leftOnDisk.ts';
import { messageOf, NodeFailure } from '../../../base/failure.ts';
import type { Cri } from '../../../cri/client/calls.ts';
import { connectCri } from '../../../cri/client/connectCri.ts';
import { groupIntoPods } from '../../../cri/client/observe.ts';
import { ownerAnnotation } from '../../../cri/config/labels.ts';
import { listMountsUnder } from '../../../host/files/mountinfo.ts';
import { createLayout, type Layout } from '../../../host/pods/layout.ts';
import { type ForeignPod, type ObservedPod, UNKNOWN_NAMESPACE } from '../../../kubernetes/lifecycle/observed.ts';
import type { NodeConfig } from '../../../node/config/nodeConfig.ts';
import { describeRunningKubelets } from '../../../node/start/checks/runningKubelets.ts';

/** A pod to be taken over, with its resources on this host. */
interface TakeOverPod extends ForeignPod {
  readonly runningCount: number;
  readonly mounts: readonly string[];
  readonly logDirectory: string | undefined;
  /** Number of processes in the pod's cgroup. */
  readonly processCount: number;
  /**
   * Whether the pod is bound to the node according to the API server. Undefined if there is no API server or it does
   * not respond.
   */
  readonly isBound?: boolean;
}

interface TakeOverPlan {
  readonly pods: readonly TakeOverPod[];
  /** The error if the pods bound to the node could not be fetched. */
  readonly unknownReason?: string | undefined;
  /** Reasons to refuse the takeover, one sentence each. */
  readonly obstacles: readonly string[];
}

interface HostState {
  readonly config: NodeConfig;
  readonly layout: Layout;
  readonly observedPods: ReadonlyMap<string, ObservedPod>;
  readonly processCounts: ReadonlyMap<string, number>;
  readonly logDirectories: readonly string[];
  readonly boundPods: BoundPods;
}

/**
 * The UIDs of the pods that are bound to the node according to the API server, or the error if they could not be
 * fetched.
 */
interface BoundPods {
  readonly uids?: ReadonlySet<string>;
  readonly unknownReason?: string;
}

const REQUEST_TIMEOUT_MS = 10_000;

/**
 * Determines which pods a takeover would affect, without changing anything. `signal` aborts the request to the API
 * server.
 */
export async function planTakeOver(config: NodeConfig, signal = new AbortController().signal): Promise<TakeOverPlan> {
  const { rootDirectory, podLogsDirectory, nodeName, containerRuntimeEndpoint } = config;
  const paths = {
    rootDir: rootDirectory,
    podLogsDir: podLogsDirectory,
    nodeName,
    runtimeEndpoint: containerRuntimeEndpoint,
  };
  const [foreign, processCounts, runtime, kubelets, logDirectories, boundPods] = await Promise.all([
    findPodsToTakeOver(paths, await listOwnedUids(rootDirectory)),
    countProcessesByPod(),
    listRuntimePods(config),
    describeRunningKubelets(rootDirectory),
    readdir(podLogsDirectory).catch(() => []),
    fetchBoundPods(config, signal),
  ]);
  const describePod = createDescriber({
    config,
    layout: createLayout(paths),
    observedPods: runtime.pods,
    processCounts,
    logDirectories,
    boundPods,
  });
  const owner = ownerAnnotation(createOwnerMark(paths).root, nodeName);
  const foreignPods = foreign.filter(
    ({ uid }) => !runtime.pods.get(uid)?.sandboxes.some((each) => each.owner === owner),
  );
  const pods = await Promise.all(foreignPods.map(describePod));
  const { unknownReason } = boundPods;
  return {
    pods,
    unknownReason,
    obstacles: [...kubelets, ...runtime.obstacles, ...pods.flatMap((pod) => podObstacles(pod, config))],
  };
}

/** Fetches the pods bound to the node. If the request fails, no pod is terminated for being unbound. */
async function fetchBoundPods({ cluster, nodeName }: NodeConfig, signal: AbortSignal): Promise<BoundPods> {
  if (cluster === undefined) return {};
  try {
    // Imported lazily, because only nodes in a cluster need the API client.
    const { fetchBoundPodUids: boundPods } = await import('../../../node/start/fetchBoundPodUids.ts');
    return { uids: await boundPods(cluster, nodeName, { signal }) };
  } catch (error) {
    return { unknownReason: messageOf(error) };
  }
}

/** Creates a function that collects the resources of a pod on this host. */
const createDescriber =
  ({ config, layout, observedPods, processCounts, logDirectories, boundPods }: HostState) =>
  async (pod: ForeignPod): Promise<TakeOverPod> => {
    const logDirectory = logDirectories.find((name) => parseLogFolder(name).uid === pod.uid);
    return {
      ...withObservedPod(pod, observedPods.get(pod.uid)),
      mounts: (await listMountsUnder(layout.podDir(pod.uid), new AbortController().signal)).map(({ path }) => path),
      logDirectory: logDirectory && join(config.podLogsDirectory, logDirectory),
      processCount: processCounts.get(pod.uid.replaceAll('-', '_')) ?? 0,
      ...(boundPods.uids ? { isBound: boundPods.uids.has(pod.uid) } : {}),
    };
  };

/** Adds the runtime's data about a pod. The names in the runtime take precedence over those derived from files. */
function withObservedPod(pod: ForeignPod, observed: ObservedPod | undefined) {
  return {
    ...pod,
    ...(observed ? { namespace: observed.namespace, name: observed.name } : {}),
    sandboxes: observed?.sandboxes.map(({ id }) => id) ?? [],
    runningCount: observed?.containers.filter(({ state }) => state === 'running').length ?? 0,
  };
}

/**
 * Returns an obstacle if the pod has processes that this runtime does not manage, because such processes cannot be
 * stopped before the pod's volumes are unmounted.
 */
function podObstacles(pod: TakeOverPod, { containerRuntimeEndpoint }: NodeConfig): string[] {
  if (pod.processCount === 0 || pod.sandboxes.length > 0) return [];
  return [
    `${podNameAndUid(pod)}: ${countText(pod.processCount, 'process', 'processes')} in its cgroup, but no sandbox on ${containerRuntimeEndpoint}: another runtime may be running it`,
  ];
}

/** Formats the plan for `--take-over=list`. */
export function planText(
  { pods, obstacles, unknownReason }: TakeOverPlan,
  { rootDirectory, cluster }: NodeConfig,
): string {
  const obstacleLines = obstacles.map((why) => `a take-over would be refused: ${why}\n`).join('');
  if (pods.length === 0) return `no pods to take over below ${rootDirectory}\n${obstacleLines}`;
  const adoptionCondition = cluster === undefined ? 'is in a manifest' : 'is in a manifest or at the API server';
  const headline = `${countText(pods.length, 'pod', 'pods')} below ${rootDirectory} would be taken over. Pods whose UID ${adoptionCondition} would be adopted as they run. The others would be terminated with a grace period of 1 s, and everything listed below would be removed.\n`;
  const unknownReasonText =
    unknownReason === undefined
      ? ''
      : `\nthe API server did not say which pods it has for this node: ${unknownReason}\n`;
  return `${headline}${pods.map(podText).join('')}${unknownReasonText}${obstacleLines}`;
}

function podText(pod: TakeOverPod): string {
  const { why, directory = '', sandboxes, runningCount, mounts, logDirectory, processCount, isBound } = pod;
  return [
    `\n${podNameAndUid(pod)}`,
    `  not ours because    ${why}`,
    ...(isBound === undefined ? [] : [`  at the API server   ${isBound ? 'yes' : 'no'}`]),
    `  sandboxes           ${sandboxes.length}, with ${countText(runningCount, 'running container', 'running containers')}`,
    `  directory           ${directory}`,
    ...mounts.map((mount) => `  mount               ${mount}`),
    ...(logDirectory === undefined ? [] : [`  logs                ${logDirectory}`]),
    `  processes           ${processCount} in its cgroup, which would be killed too`,
    '',
  ].join('\n');
}

/** Throws a `NodeFailure` that lists the obstacles, if there are any, before anything is changed. */
export function assertNoObstacles({ obstacles }: TakeOverPlan): void {
  if (obstacles.length > 0) throw new NodeFailure('TakeOverRefused', `nothing was taken over: ${obstacles.join('; ')}`);
}

/** Returns e.g. `kube-system/etcd (UID)`, or only the UID if the name is unknown. */
export const podNameAndUid = ({ namespace, name, uid }: ForeignPod): string =>
  namespace === UNKNOWN_NAMESPACE ? uid : `${namespace}/${name} (${uid})`;

const countText = (count: number, singular: string, plural: string): string =>
  `${count} ${count === 1 ? singular : plural}`;

async function listRuntimePods(
  config: NodeConfig,
): Promise<{ pods: ReadonlyMap<string, ObservedPod>; obstacles: readonly string[] }> {
  const { containerRuntimeEndpoint: endpoint } = config;
  if (endpoint === SIMULATED_ENDPOINT) return { pods: new Map(), obstacles: [] };
  const cri: Cri = connectCri({ runtimeEndpoint: endpoint, requestTimeoutMs: REQUEST_TIMEOUT_MS });
  try {
    const options = { signal: new AbortController().signal };
    const [{ items }, { containers }] = await Promise.all([
      cri.listPodSandbox({ filter: undefined }, options),
      cri.listContainers({ filter: undefined }, options),
    ]);
    return { pods: groupIntoPods(items, containers), obstacles: [] };
  } catch (error) {
    const message = messageOf(error);
    return { pods: new Map(), obstacles: [`cannot list the pods of the runtime ${endpoint}: ${message}`] };
  } finally {
    cri.close();
  }
}

/** Counts the processes in the cgroups of pods, by UID with underscores instead of dashes. */
async function countProcessesByPod(): Promise<ReadonlyMap<string, number>> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const countsByPod = new Map<string, number>();
  for (const pid of pids) {
    const cgroupText = await readFile(`/proc/${pid}/cgroup`, 'utf8').catch(() => '');
    const uids = new Set(
      Array.from(cgroupText.matchAll(/[/-]pod([\w-]+?)(?:\.slice)?(?=[/\n])/g), ([, uid = '']) => uid),
    );
    for (const uid of uids) {
      const key = uid.replaceAll('-', '_');
      countsByPod.set(key, (countsByPod.get(key) ?? 0) + 1);
    }
  }
  return countsByPod;
}
