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
  type LeftPod,
  type PodIdentity,
  UNKNOWN_NAMESPACE,
} from '../../kubernetes/lifecycle/observed.ts';
import type { DurableFacts } from './durableFacts.ts';
import { factFileName } from './storeFiles.ts';

/** Who the agent is, and where its folders are, both absolute. */
export interface AgentPlace {
  readonly rootDir: string;
  readonly podLogsDir: string;
  readonly nodeName: string;
  readonly runtimeEndpoint: string;
}

/** What was found below the root directory. */
export interface FoundOnDisk {
  readonly left: readonly LeftPod[];
  readonly foreign: readonly ForeignPod[];
}

/** The same, when an agent starts. */
export interface FoundAtStart extends FoundOnDisk {
  /** The uids of the pods that there are logs of; unknown where the folder that these are in cannot be read. */
  readonly logged: readonly string[] | 'unknown';
}

/** The runtime of an agent without containers: nothing of it outlives its process. */
export const SIMULATED = 'simulated';

export const makerOf = ({ rootDir, nodeName, runtimeEndpoint }: AgentPlace): Maker => ({
  root: rootDir,
  node: nodeName,
  runtime: runtimeEndpoint,
});

interface LookOptions {
  readonly takesOver?: boolean;
  readonly files?: FileSystem | undefined;
  /** Called for a pod of this agent whose mark was damaged. */
  readonly onAdopted?: ((pod: PodIdentity, why: string) => void) | undefined;
}

/**
 * The pods of which a former run left a directory or a durable fact, and those of others, of which a directory is here.
 * A directory from before there were marks is given one when a durable fact tells that its pod was admitted here; when
 * the agent takes over, every one. Fails with `RuntimeChanged` where pods are on another runtime than this agent's.
 */
export async function podsLeftOnDisk(
  place: AgentPlace,
  {
    allocations,
    containerEnds,
    statuses,
    probes,
  }: Pick<DurableFacts, 'allocations' | 'containerEnds' | 'statuses' | 'probes'>,
  { takesOver = false, files, onAdopted }: LookOptions = {},
): Promise<FoundAtStart> {
  const layout = createLayout(place, files);
  const maker = makerOf(place);
  const logged = await loggedPods(layout, place.podLogsDir);
  const identityOf = identitiesIn(logged ?? []);
  const uids = await listPodDirectories(layout);
  const directories = uids.map((uid) => ({ uid, owner: readPodDirectoryOwner(layout, maker, uid) }));
  if (!takesOver) refuseOtherRuntime(layout, directories, maker);
  for (const each of directories) {
    const { uid, owner } = each;
    const isKnown = allocations.has(uid) || probes.has(uid);
    const isTaken = takesOver && (owner.kind === 'others' || isOfOtherRuntime(layout, owner, maker));
    if (!isTaken && !(owner.kind === 'unmarked' && (isKnown || takesOver))) continue;
    await adoptPod({ layout, maker, pod: identityOf(uid), isTaken: takesOver });
    if (owner.kind === 'unmarked' && owner.damagedMark !== undefined) {
      const expectation = 'expected a JSON object with root, node, runtime and pod';
      onAdopted?.(identityOf(uid), `${owner.damagedMark} is damaged, ${expectation}; it has been replaced`);
    }
    each.owner = readPodDirectoryOwner(layout, maker, uid);
  }
  const found = directories.map(({ uid, owner }) => sorted(layout, uid, { owner, identityOf }));
  const facts = [allocations, containerEnds, statuses, probes];
  const withoutDirectory = facts.flatMap((ofKind) => [...ofKind.keys()]).filter((uid) => !uids.includes(uid));
  return {
    left: [...found.flatMap(({ left = [] }) => left), ...[...new Set(withoutDirectory)].map(identityOf)],
    foreign: found.flatMap(({ foreign = [] }) => foreign),
    logged: logged?.map(({ uid }) => uid) ?? 'unknown',
  };
}

/** The UIDs of the pods whose directories are this agent's: their cgroups were made, or adopted, by it. */
export async function podsOfAgent(place: AgentPlace, files?: FileSystem): Promise<readonly string[]> {
  const layout = createLayout(place, files);
  const maker = makerOf(place);
  return (await listPodDirectories(layout)).filter((uid) => readPodDirectoryOwner(layout, maker, uid).kind === 'ours');
}

/** The pods below a root that a take-over is about: those with a directory that is not this agent's, over this runtime. */
export async function takenOver(
  place: AgentPlace,
  known: Pick<ReadonlySet<string>, 'has'>,
): Promise<readonly ForeignPod[]> {
  const layout = createLayout(place);
  const maker = makerOf(place);
  const identityOf = identitiesIn((await loggedPods(layout, place.podLogsDir)) ?? []);
  return (await listPodDirectories(layout)).flatMap((uid) => {
    const owner = readPodDirectoryOwner(layout, maker, uid);
    const common = { directory: layout.podDir(uid), sandboxes: [] };
    if (owner.kind === 'ours') {
      const why = `created on the runtime ${owner.runtime}`;
      return isOfOtherRuntime(layout, owner, maker) ? [{ ...identityOf(uid), ...owner.pod, ...common, why }] : [];
    }
    const isTheirs = owner.kind === 'others' || (owner.kind === 'unmarked' && !known.has(uid));
    return isTheirs ? [{ ...identityOf(uid), ...common, why: owner.why }] : [];
  });
}

/**
 * The uids of which a durable fact tells that they were admitted: by the names of its files alone, which are not read. Rejects
 * if a directory cannot be read, because this agent's own pods would count as those of another.
 */
export async function ownedByFact(rootDir: string): Promise<Pick<ReadonlySet<string>, 'has'>> {
  const kinds = ['allocations', 'probes'].map((kind) =>
    hostFiles.readdir(path.join(rootDir, 'statelet', kind)).catch((error: unknown) => {
      if (!isMissing(error)) throw error;
      return [];
    }),
  );
  const names = new Set((await Promise.all(kinds)).flat());
  return { has: (uid) => names.has(factFileName(uid)) };
}

/** What is on disk of pods that the agent does not know: a directory, or after a power cut logs alone. */
export async function surveyPods(
  { layout, maker, podLogsDir }: { readonly layout: Layout; readonly maker: Maker; readonly podLogsDir: string },
  known: readonly string[],
): Promise<FoundOnDisk> {
  const skipped = new Set(known);
  // The logs first: a pod that is being made has its directory before them.
  const logged = (await loggedPods(layout, podLogsDir)) ?? [];
  const uids = (await listPodDirectories(layout)).filter((uid) => !skipped.has(uid));
  const identityOf = identitiesIn(logged);
  const found = uids.map((uid) =>
    sorted(layout, uid, { owner: readPodDirectoryOwner(layout, maker, uid), identityOf }),
  );
  const isOurs = (pod: PodIdentity) => {
    const owner = readOwner(layout.files, layout.podLogDir(pod), maker);
    return owner.kind === 'ours' && (owner.pod === undefined || isSamePodName(owner.pod, pod));
  };
  const onlyLogged = logged.filter(({ uid }) => !skipped.has(uid) && !uids.includes(uid));
  return {
    left: [...found.flatMap(({ left = [] }) => left), ...onlyLogged.filter(isOurs)],
    foreign: found.flatMap(({ foreign = [] }) => foreign),
  };
}

interface Known {
  readonly owner: DirectoryOwner;
  readonly identityOf: (uid: string) => PodIdentity;
}

function sorted(
  layout: Layout,
  uid: string,
  { owner, identityOf }: Known,
): { left?: [LeftPod]; foreign?: [ForeignPod] } {
  if (owner.kind === 'missing') return {};
  if (owner.kind === 'ours') {
    return {
      left: [{ ...identityOf(uid), ...owner.pod, isMarked: true, ...(owner.isTaken ? { isTaken: true } : {}) }],
    };
  }
  return { foreign: [{ ...identityOf(uid), why: owner.why, directory: layout.podDir(uid), sandboxes: [] }] };
}

function isOfOtherRuntime({ files }: Layout, owner: DirectoryOwner, { runtime }: Maker): boolean {
  return owner.kind === 'ours' && owner.runtime !== SIMULATED && !isSameRuntime(files, owner.runtime, runtime);
}

/** Whether two endpoints lead to one runtime, through whatever links. */
export function isSameRuntime(files: FileSystem, one: string, other: string): boolean {
  const [path = '', otherPath = ''] = [one, other].map((each) => each.replace(/^unix:\/\//, ''));
  return one === other || files.isSamePathSync(path, otherPath);
}

function refuseOtherRuntime(
  layout: Layout,
  found: readonly { readonly uid: string; readonly owner: DirectoryOwner }[],
  maker: Maker,
): void {
  const others = found.flatMap(({ owner }) =>
    owner.kind === 'ours' && isOfOtherRuntime(layout, owner, maker) ? owner.runtime : [],
  );
  const [runtime] = others;
  if (runtime === undefined) return;
  const count = others.length === 1 ? '1 pod' : `${others.length} pods`;
  const message = `${maker.root} holds ${count} of the runtime ${runtime}, but this agent is configured to use ${maker.runtime}: keep the former runtime, or use another root directory`;
  throw new NodeFailure('RuntimeChanged', message);
}

/** Who a pod is by its uid, as far as the names of the log folders tell; a pod without logs goes by its uid. */
function identitiesIn(logged: readonly PodIdentity[]): (uid: string) => PodIdentity {
  const named = new Map(logged.map((pod) => [pod.uid, pod]));
  return (uid) => named.get(uid) ?? { uid, namespace: UNKNOWN_NAMESPACE, name: uid };
}

/**
 * The pods that have a log folder, whoever made it: the folder that these are in is not only ours. Undefined where that
 * cannot be read.
 */
async function loggedPods({ files }: Layout, podLogsDir: string): Promise<readonly PodIdentity[] | undefined> {
  const folders = await files.readdir(podLogsDir).catch((error) => (isMissing(error) ? [] : undefined));
  return folders?.map(identityOf).filter((pod) => Object.values(pod).every(isSafeSegment));
}

/** Log folders are named `<namespace>_<name>_<uid>` (C23); of these only a uid may have an underscore. */
export function identityOf(folder: string): PodIdentity {
  const [namespace = '', name = '', ...uid] = folder.split('_');
  return { namespace, name, uid: uid.join('_') };
}
