/**
 * Determines which pods belong to this agent. The agent does not unmount, remove or overwrite any files of a foreign
 * pod.
 */
import type { FileSystem } from '../../host/files/fileSystem.ts';
import type { Layout } from '../../host/pods/layout.ts';
import { removeLeftovers } from '../../host/pods/podDirectory.ts';
import type { Maker } from '../../host/pods/podMark.ts';
import { adoptPod, claimPodDirectory, requirePodDirectoryOwner } from '../../host/pods/takePodDirectory.ts';
import type { ObservedPod, ObservedSandbox, PodIdentity } from '../../kubernetes/lifecycle/observed.ts';
import { type PodsOnDisk, surveyPods } from './leftOnDisk.ts';

interface OwnershipDependencies {
  readonly layout: Layout;
  readonly ownMark: Maker;
  readonly podLogsDir: string;
  /** The mark on this agent's sandboxes. */
  readonly owner: string;
  /** Called when a directory is adopted, with the reason why it did not belong to this agent. */
  readonly onAdopted?: ((pod: PodIdentity, why: string) => void) | undefined;
}

interface Survey extends PodsOnDisk {
  /** Errors that occurred while partially created or removed files were deleted. */
  readonly errors: readonly unknown[];
}

/** Distinguishes own pods from foreign ones by the marks in their directories and on their sandboxes. */
export interface Ownership {
  readonly ownMark: Maker;
  /**
   * Records which agents created the sandboxes of the pods. Returns the pods with this agent's mark in its canonical
   * form, because a mark may refer to the root directory through links.
   */
  observe(pods: readonly ObservedPod[]): readonly ObservedPod[];
  /** Returns the mark of a foreign agent on a sandbox, or undefined if the mark is this agent's or missing. */
  foreignMark(mark: string | undefined): string | undefined;
  /**
   * Whether this agent alone is responsible for the cgroup with the pod's UID: either no other agent is known to have a
   * sandbox of the pod, or this agent has taken over the pod.
   */
  hasCgroupAlone(uid: string): boolean;
  /**
   * Marks the pod's directory before any other file of the pod is created. An unmarked directory is adopted if the
   * runtime has run sandboxes of the pod (`ran`). Otherwise the directory belongs to a different owner and the call
   * rejects.
   */
  take(pod: PodIdentity, ran: readonly string[]): Promise<void>;
  /** Whether this agent may remove the pod's files on this host. Rejects if the directory's mark cannot be read. */
  owns(pod: PodIdentity): Promise<boolean>;
  /** Drops the observations of a removed pod. */
  forgetPod(uid: string): void;
  /** Finds pods on disk that have no actor. */
  surveyDisk(knownUids: readonly string[], signal: AbortSignal): Promise<Survey>;
}

export function createOwnership({ layout, ownMark, podLogsDir, owner, onAdopted }: OwnershipDependencies): Ownership {
  const { ownPodUids, shared, foreignMark, observe } = createObservations(layout.files, ownMark, owner);
  const takeOwnership = async ({ uid, namespace, name }: PodIdentity, ran: readonly string[]) => {
    const pod = { uid, namespace, name };
    const why = await claimPodDirectory({
      layout,
      maker: ownMark,
      pod,
      runsHere: ran.length > 0 || ownPodUids.has(uid),
    });
    if (why !== undefined && !ownPodUids.has(uid)) onAdopted?.(pod, why);
  };
  return {
    ownMark,
    observe: (pods) => pods.map(observe),
    foreignMark,
    hasCgroupAlone: (uid) => {
      if (!shared.has(uid)) return true;
      const owner = requirePodDirectoryOwner(layout, ownMark, uid);
      return owner.kind === 'ours' && owner.isTakenOver;
    },
    take: takeOwnership,
    owns: async (pod) => {
      const { kind } = requirePodDirectoryOwner(layout, ownMark, pod.uid);
      if (kind === 'ours' || !ownPodUids.has(pod.uid)) return kind === 'ours';
      // The directory was created before marks existed. Mark it so that the next agent recognizes it if the removal is
      // interrupted.
      if (kind === 'unmarked') await adoptPod({ layout, maker: ownMark, pod });
      return kind === 'unmarked' || kind === 'missing';
    },
    forgetPod: (uid) => void ownPodUids.delete(uid),
    surveyDisk: async (knownUids, signal) => {
      const leftoverRemovals = [layout.podsDir, podLogsDir].map((directory) =>
        removeLeftovers(directory, { layout, maker: ownMark, signal }),
      );
      const errors = (await Promise.all(leftoverRemovals)).flat();
      const { left, foreign } = await surveyPods({ layout, maker: ownMark, podLogsDir }, knownUids);
      return { left, foreign: foreign.filter(({ uid }) => !ownPodUids.has(uid)), errors };
    },
  };
}

/**
 * Tracks which pods have sandboxes of this agent (`ownPodUids`), and which have sandboxes of another agent (`shared`).
 */
function createObservations(files: FileSystem, maker: Maker, owner: string) {
  const ownPodUids = new Set<string>();
  const sharedUids = new Set<string>();
  const isOwnMark = cacheByMark((mark) => mark === owner || isMarkOfAgent(files, maker, mark));
  const foreignMark = (mark: string | undefined) => (mark === undefined || isOwnMark(mark) ? undefined : mark);
  const observe = (pod: ObservedPod): ObservedPod => {
    const { uid, sandboxes } = pod;
    if (sandboxes.some((sandbox) => sandbox.owner !== undefined && isOwnMark(sandbox.owner))) ownPodUids.add(uid);
    if (sandboxes.some((sandbox) => foreignMark(sandbox.owner) !== undefined)) sharedUids.add(uid);
    else sharedUids.delete(uid);
    if (!sandboxes.some((sandbox) => sandbox.owner !== undefined && sandbox.owner !== owner)) return pod;
    const normalizeSandbox = (sandbox: ObservedSandbox) =>
      sandbox.owner !== undefined && isOwnMark(sandbox.owner) ? { ...sandbox, owner } : sandbox;
    return { ...pod, sandboxes: sandboxes.map(normalizeSandbox) };
  };
  return { ownPodUids, shared: sharedUids, foreignMark, observe };
}

/** Whether the mark of a sandbox names this agent's node and its root directory, possibly through links. */
function isMarkOfAgent(files: FileSystem, { root, node }: Maker, mark: string): boolean {
  const separatorIndex = mark.lastIndexOf('@');
  const path = mark.slice(0, separatorIndex);
  return separatorIndex >= 0 && mark.slice(separatorIndex + 1) === node && files.isSamePathSync(path, root);
}

/** Caches the result for each mark, because there are only a few different marks and every list repeats them. */
function cacheByMark(predicate: (mark: string) => boolean): (mark: string) => boolean {
  const results = new Map<string, boolean>();
  return (mark) => {
    const result = results.get(mark) ?? predicate(mark);
    results.set(mark, result);
    return result;
  };
}
