import path from 'node:path';
import { NodeFailure } from '../../base/failure.ts';
import { isMissing } from '../../host/files/fileErrors.ts';
import { type FileSystem, hostFiles } from '../../host/files/fileSystem.ts';
import { createLayout, isSafeSegment, type Layout } from '../../host/pods/layout.ts';
import { listPodDirectories } from '../../host/pods/podDirectory.ts';
import { type DirectoryOwner, type Maker, readOwner } from '../../host/pods/podMark.ts';
import { adoptPod, isSamePodName, readPodDirectoryOwner } from '../../host/pods/takePodDirectory.ts';
import {
  type ForeignPod,
  type LeftoverPod,
  type PodIdentity,
  UNKNOWN_NAMESPACE,
} from '../../kubernetes/lifecycle/observed.ts';
import type { DurableFacts } from './durableFacts.ts';
import { factFileName } from './storeFiles.ts';

/** Identity and root folders of an agent. The paths are absolute. */
export interface AgentIdentity {
  readonly rootDir: string;
  readonly podLogsDir: string;
  readonly nodeName: string;
  readonly runtimeEndpoint: string;
}

export interface PodsOnDisk {
  readonly left: readonly LeftoverPod[];
  readonly foreign: readonly ForeignPod[];
}

/** Pods that were found on disk when an agent started. */
export interface PodsAtStart extends PodsOnDisk {
  /** UIDs of the pods with logs, or `unknown` if the log folder cannot be read. */
  readonly logged: readonly string[] | 'unknown';
}

/** Placeholder for the runtime endpoint of an agent without real containers, whose pods do not outlive its process. */
export const SIMULATED_ENDPOINT = 'simulated';

export const createOwnerMark = ({ rootDir, nodeName, runtimeEndpoint }: AgentIdentity): Maker => ({
  root: rootDir,
  node: nodeName,
  runtime: runtimeEndpoint,
});

interface FindOptions {
  readonly takesOver?: boolean;
  readonly files?: FileSystem | undefined;
  /** Called for a pod whose damaged owner mark was replaced with this agent's. */
  readonly onAdopted?: ((pod: PodIdentity, why: string) => void) | undefined;
}

/**
 * Finds the pods for which an earlier run has left a directory or a durable fact, and foreign pods with a directory
 * below this root. During a takeover, every unmarked directory is adopted. Otherwise, an unmarked directory is only
 * adopted if a durable fact proves that this agent admitted its pod. Fails with `RuntimeChanged` if there are pods on a
 * different runtime.
 */
export async function findPodsOnDisk(
  agentIdentity: AgentIdentity,
  {
    allocations,
    containerEnds,
    statuses,
    probes,
  }: Pick<DurableFacts, 'allocations' | 'containerEnds' | 'statuses' | 'probes'>,
  { takesOver = false, files, onAdopted }: FindOptions = {},
): Promise<PodsAtStart> {
  const layout = createLayout(agentIdentity, files);
  const ownMark = createOwnerMark(agentIdentity);
  const podsWithLogs = await listPodsWithLogs(layout, agentIdentity.podLogsDir);
  const findIdentity = createIdentityFinder(podsWithLogs ?? []);
  const uids = await listPodDirectories(layout);
  const podDirectories = uids.map((uid) => ({ uid, owner: readPodDirectoryOwner(layout, ownMark, uid) }));
  if (!takesOver) rejectOtherRuntime(layout, podDirectories, ownMark);
  for (const directory of podDirectories) {
    const { uid, owner } = directory;
    const isKnown = allocations.has(uid) || probes.has(uid);
    const mustTakeOver = takesOver && (owner.kind === 'others' || belongsToOtherRuntime(layout, owner, ownMark));
    if (!mustTakeOver && !(owner.kind === 'unmarked' && (isKnown || takesOver))) continue;
    await adoptPod({ layout, maker: ownMark, pod: findIdentity(uid), isTakenOver: takesOver });
    if (owner.kind === 'unmarked' && owner.damagedMark !== undefined) {
      const expectedFormat = 'expected a JSON object with root, node, runtime and pod';
      onAdopted?.(findIdentity(uid), `${owner.damagedMark} is damaged, ${expectedFormat}; it has been replaced`);
    }
    directory.owner = readPodDirectoryOwner(layout, ownMark, uid);
  }
  const pods = podDirectories.map(({ uid, owner }) => classifyPod(layout, uid, { owner, findIdentity }));
  const factMaps = [allocations, containerEnds, statuses, probes];
  const uidsWithoutDirectory = factMaps.flatMap((ofKind) => [...ofKind.keys()]).filter((uid) => !uids.includes(uid));
  return {
    left: [...pods.flatMap(({ left = [] }) => left), ...[...new Set(uidsWithoutDirectory)].map(findIdentity)],
    foreign: pods.flatMap(({ foreign = [] }) => foreign),
    logged: podsWithLogs?.map(({ uid }) => uid) ?? 'unknown',
  };
}

/**
 * Returns the UIDs of the pods whose directories belong to this agent. This agent has created or adopted the cgroups of
 * these pods, too.
 */
export async function podsOfAgent(agentIdentity: AgentIdentity, files?: FileSystem): Promise<readonly string[]> {
  const layout = createLayout(agentIdentity, files);
  const ownMark = createOwnerMark(agentIdentity);
  return (await listPodDirectories(layout)).filter(
    (uid) => readPodDirectoryOwner(layout, ownMark, uid).kind === 'ours',
  );
}

/** Finds the pods to take over. Their directories belong to another agent or runtime. */
export async function findPodsToTakeOver(
  agentIdentity: AgentIdentity,
  knownUids: Pick<ReadonlySet<string>, 'has'>,
): Promise<readonly ForeignPod[]> {
  const layout = createLayout(agentIdentity);
  const ownMark = createOwnerMark(agentIdentity);
  const findIdentity = createIdentityFinder((await listPodsWithLogs(layout, agentIdentity.podLogsDir)) ?? []);
  return (await listPodDirectories(layout)).flatMap((uid) => {
    const owner = readPodDirectoryOwner(layout, ownMark, uid);
    const commonFields = { directory: layout.podDir(uid), sandboxes: [] };
    if (owner.kind === 'ours') {
      const why = `created on the runtime ${owner.runtime}`;
      return belongsToOtherRuntime(layout, owner, ownMark)
        ? [{ ...findIdentity(uid), ...owner.pod, ...commonFields, why }]
        : [];
    }
    const isForeign = owner.kind === 'others' || (owner.kind === 'unmarked' && !knownUids.has(uid));
    return isForeign ? [{ ...findIdentity(uid), ...commonFields, why: owner.why }] : [];
  });
}

/**
 * Returns the UIDs of admitted pods from the names of the durable facts, without reading their contents. Rejects if a
 * directory cannot be read, because this agent's own pods would otherwise be considered foreign.
 */
export async function listOwnedUids(rootDir: string): Promise<Pick<ReadonlySet<string>, 'has'>> {
  const storedKinds = ['allocations', 'probes'].map((kind) =>
    hostFiles.readdir(path.join(rootDir, 'statelet', kind)).catch((error: unknown) => {
      if (!isMissing(error)) throw error;
      return [];
    }),
  );
  const names = new Set((await Promise.all(storedKinds)).flat());
  return { has: (uid) => names.has(factFileName(uid)) };
}

/** Finds pods on disk that the agent does not know, by their directories or, after a power failure, by their logs. */
export async function surveyPods(
  { layout, maker, podLogsDir }: { readonly layout: Layout; readonly maker: Maker; readonly podLogsDir: string },
  knownUids: readonly string[],
): Promise<PodsOnDisk> {
  const skippedUids = new Set(knownUids);
  // List the logs first. The directory of a new pod is created before its logs, so a new pod is never listed with logs
  // but without a directory.
  const podsWithLogs = (await listPodsWithLogs(layout, podLogsDir)) ?? [];
  const uids = (await listPodDirectories(layout)).filter((uid) => !skippedUids.has(uid));
  const findIdentity = createIdentityFinder(podsWithLogs);
  const pods = uids.map((uid) =>
    classifyPod(layout, uid, { owner: readPodDirectoryOwner(layout, maker, uid), findIdentity }),
  );
  const isOwnPod = (pod: PodIdentity) => {
    const owner = readOwner(layout.files, layout.podLogDir(pod), maker);
    return owner.kind === 'ours' && (owner.pod === undefined || isSamePodName(owner.pod, pod));
  };
  const podsWithLogsOnly = podsWithLogs.filter(({ uid }) => !skippedUids.has(uid) && !uids.includes(uid));
  return {
    left: [...pods.flatMap(({ left = [] }) => left), ...podsWithLogsOnly.filter(isOwnPod)],
    foreign: pods.flatMap(({ foreign = [] }) => foreign),
  };
}

interface PodDirectory {
  readonly owner: DirectoryOwner;
  readonly findIdentity: (uid: string) => PodIdentity;
}

function classifyPod(
  layout: Layout,
  uid: string,
  { owner, findIdentity }: PodDirectory,
): { left?: [LeftoverPod]; foreign?: [ForeignPod] } {
  if (owner.kind === 'missing') return {};
  if (owner.kind === 'ours') {
    return {
      left: [
        { ...findIdentity(uid), ...owner.pod, isMarked: true, ...(owner.isTakenOver ? { isTakenOver: true } : {}) },
      ],
    };
  }
  return { foreign: [{ ...findIdentity(uid), why: owner.why, directory: layout.podDir(uid), sandboxes: [] }] };
}

function belongsToOtherRuntime({ files }: Layout, owner: DirectoryOwner, { runtime }: Maker): boolean {
  return owner.kind === 'ours' && owner.runtime !== SIMULATED_ENDPOINT && !hasSameSocket(files, owner.runtime, runtime);
}

/** Whether two endpoints resolve to the same socket. */
export function hasSameSocket(files: FileSystem, first: string, second: string): boolean {
  const [firstPath = '', secondPath = ''] = [first, second].map((endpoint) => endpoint.replace(/^unix:\/\//, ''));
  return first === second || files.isSamePathSync(firstPath, secondPath);
}

function rejectOtherRuntime(
  layout: Layout,
  directories: readonly { readonly uid: string; readonly owner: DirectoryOwner }[],
  ownMark: Maker,
): void {
  const otherRuntimes = directories.flatMap(({ owner }) =>
    owner.kind === 'ours' && belongsToOtherRuntime(layout, owner, ownMark) ? owner.runtime : [],
  );
  const [runtime] = otherRuntimes;
  if (runtime === undefined) return;
  const count = otherRuntimes.length === 1 ? '1 pod' : `${otherRuntimes.length} pods`;
  const message = `${ownMark.root} contains ${count} of the runtime ${runtime}, but this agent is configured to use ${ownMark.runtime}: use the previous runtime or a different root directory`;
  throw new NodeFailure('RuntimeChanged', message);
}

/**
 * Returns a function that looks up a pod's identity by its UID in the names of log folders. A pod without logs is
 * identified by its UID.
 */
function createIdentityFinder(podsWithLogs: readonly PodIdentity[]): (uid: string) => PodIdentity {
  const podsByUid = new Map(podsWithLogs.map((pod) => [pod.uid, pod]));
  return (uid) => podsByUid.get(uid) ?? { uid, namespace: UNKNOWN_NAMESPACE, name: uid };
}

/**
 * Lists the pods with a log folder, which may belong to other agents. Returns undefined if the parent folder cannot be
 * read.
 */
async function listPodsWithLogs({ files }: Layout, podLogsDir: string): Promise<readonly PodIdentity[] | undefined> {
  const logFolders = await files.readdir(podLogsDir).catch((error) => (isMissing(error) ? [] : undefined));
  return logFolders?.map(parseLogFolder).filter((pod) => Object.values(pod).every(isSafeSegment));
}

/** Parses the name of a log folder, `<namespace>_<name>_<uid>` (C23). Only the UID may contain underscores. */
export function parseLogFolder(folder: string): PodIdentity {
  const [namespace = '', name = '', ...uid] = folder.split('_');
  return { namespace, name, uid: uid.join('_') };
}
