/** Which pods are this agent's own: of what is not, nothing is unmounted, removed or overwritten. */
import type { FileSystem } from '../../host/files/fileSystem.ts';
import type { Layout } from '../../host/pods/layout.ts';
import { removeLeftovers } from '../../host/pods/podDirectory.ts';
import type { Maker } from '../../host/pods/podMark.ts';
import { adoptPod, claimPodDirectory, requirePodDirectoryOwner } from '../../host/pods/takePodDirectory.ts';
import type { ObservedPod, ObservedSandbox, PodIdentity } from '../../kubernetes/lifecycle/observed.ts';
import { type FoundOnDisk, surveyPods } from './leftOnDisk.ts';

interface OwnershipParts {
  readonly layout: Layout;
  readonly maker: Maker;
  readonly podLogsDir: string;
  /** The mark on the sandboxes of this agent. */
  readonly owner: string;
  /** Told when a directory is adopted, and why it was not this agent's before. */
  readonly onAdopted?: ((pod: PodIdentity, why: string) => void) | undefined;
}

interface Surveyed extends FoundOnDisk {
  /** Why something that was left half made or half removed cannot be deleted. */
  readonly errors: readonly unknown[];
}

/** Tells own pods from those of others, by the marks in their directories and on their sandboxes. */
export interface Ownership {
  readonly maker: Maker;
  /**
   * Notes which agent made the sandboxes of the pods, and gives the pods back with one spelling of this agent's mark: its
   * root directory may be reached through links.
   */
  see(pods: readonly ObservedPod[]): readonly ObservedPod[];
  /** The mark of another agent on a sandbox: as it is, or undefined where the mark is this agent's or there is none. */
  otherMaker(mark: string | undefined): string | undefined;
  /** Whether the cgroup of the pod's UID holds, as far as is known, nothing of another agent's. */
  hasCgroupAlone(uid: string): boolean;
  /**
   * Marks the pod's directory, before anything else of the pod is made; one that is there without a mark is
   * adopted when the runtime has run sandboxes of the pod, `ran`, and else somebody's: then it rejects.
   */
  take(pod: PodIdentity, ran: readonly string[]): Promise<void>;
  /** Whether what is on this host of a pod is this agent's to remove; rejects where that cannot be read. */
  owns(pod: PodIdentity): Promise<boolean>;
  /** Nothing of the pod is left. */
  forget(uid: string): void;
  /** What is on disk of pods without an actor. */
  survey(known: readonly string[], signal: AbortSignal): Promise<Surveyed>;
}

export function createOwnership({ layout, maker, podLogsDir, owner, onAdopted }: OwnershipParts): Ownership {
  const { seen, shared, otherMaker, see } = createSightings(layout.files, maker, owner);
  const take = async ({ uid, namespace, name }: PodIdentity, ran: readonly string[]) => {
    const pod = { uid, namespace, name };
    const why = await claimPodDirectory({ layout, maker, pod, runsHere: ran.length > 0 || seen.has(uid) });
    if (why !== undefined && !seen.has(uid)) onAdopted?.(pod, why);
  };
  return {
    maker,
    see: (pods) => pods.map(see),
    otherMaker,
    hasCgroupAlone: (uid) => {
      if (!shared.has(uid)) return true;
      const owner = requirePodDirectoryOwner(layout, maker, uid);
      return owner.kind === 'ours' && owner.isTaken;
    },
    take,
    owns: async (pod) => {
      const { kind } = requirePodDirectoryOwner(layout, maker, pod.uid);
      if (kind === 'ours' || !seen.has(pod.uid)) return kind === 'ours';
      // From before there were marks: should the removal be cut off, the next agent has to know.
      if (kind === 'unmarked') await adoptPod({ layout, maker, pod });
      return kind === 'unmarked' || kind === 'missing';
    },
    forget: (uid) => void seen.delete(uid),
    survey: async (known, signal) => {
      const halfDone = [layout.podsDir, podLogsDir].map((each) => removeLeftovers(each, { layout, maker, signal }));
      const errors = (await Promise.all(halfDone)).flat();
      const { left, foreign } = await surveyPods({ layout, maker, podLogsDir }, known);
      return { left, foreign: foreign.filter(({ uid }) => !seen.has(uid)), errors };
    },
  };
}

/** By the UIDs of pods, whose marks were seen on their sandboxes: this agent's (`seen`), another's as well (`shared`). */
function createSightings(files: FileSystem, maker: Maker, owner: string) {
  const seen = new Set<string>();
  const shared = new Set<string>();
  const isOwnMark = remembered((mark) => mark === owner || isMarkOf(files, maker, mark));
  const otherMaker = (mark: string | undefined) => (mark === undefined || isOwnMark(mark) ? undefined : mark);
  const see = (pod: ObservedPod): ObservedPod => {
    const { uid, sandboxes } = pod;
    if (sandboxes.some((sandbox) => sandbox.owner !== undefined && isOwnMark(sandbox.owner))) seen.add(uid);
    if (sandboxes.some((sandbox) => otherMaker(sandbox.owner) !== undefined)) shared.add(uid);
    else shared.delete(uid);
    if (!sandboxes.some((sandbox) => sandbox.owner !== undefined && sandbox.owner !== owner)) return pod;
    const spelled = (sandbox: ObservedSandbox) =>
      sandbox.owner !== undefined && isOwnMark(sandbox.owner) ? { ...sandbox, owner } : sandbox;
    return { ...pod, sandboxes: sandboxes.map(spelled) };
  };
  return { seen, shared, otherMaker, see };
}

/** Whether the mark of a sandbox names this agent's root directory, in whatever spelling, and its node. */
function isMarkOf(files: FileSystem, { root, node }: Maker, mark: string): boolean {
  const end = mark.lastIndexOf('@');
  return end >= 0 && mark.slice(end + 1) === node && files.isSamePathSync(mark.slice(0, end), root);
}

/** Asks once for each mark: there are few, and each list shows them again. */
function remembered(ask: (mark: string) => boolean): (mark: string) => boolean {
  const known = new Map<string, boolean>();
  return (mark) => {
    const answer = known.get(mark) ?? ask(mark);
    known.set(mark, answer);
    return answer;
  };
}
