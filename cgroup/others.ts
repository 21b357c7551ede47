/** The cgroups of pods that somebody else has made in the tree in which this node's pods are: another kubelet's. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type CgroupPlace, cgroupPath } from '../pod/cgroup.ts';
import { type Hierarchy, hierarchyOf } from './hierarchies.ts';
import { relativePath } from './remove.ts';

interface PodsTree {
  readonly place: CgroupPlace;
  readonly hierarchies: readonly Hierarchy[];
  /** The UIDs of pods whose cgroups were made here. */
  readonly made: ReadonlySet<string>;
  /** The UIDs of all pods of this agent; asked when there is a cgroup of a pod that is not among those. */
  readonly ownPods: () => Promise<readonly string[]>;
}

/** What all pods share: their cgroup, and those of the QoS classes. */
const SHARED = [['kubepods'], ['kubepods', 'burstable'], ['kubepods', 'besteffort']];

/** The cgroups that all pods share, and whether pods of somebody else are in them. */
interface SharedCgroups {
  /** Looks again; gives whether it has become otherwise. */
  look(): Promise<boolean>;
  isShared(): boolean;
  /** What it means that they are shared, and the way out; undefined when they are not. */
  why(): string | undefined;
  /** This cgroup was not there before. */
  noteMade(path: string): void;
  /** What holds pods of somebody else is left as it is, and what is above it, and all that was there before. */
  mayChange(path: string): boolean;
}

export function sharedCgroups(tree: PodsTree): SharedCgroups {
  let others: readonly string[] = [];
  const madeHere = new Set<string>();
  return {
    look: async () => {
      const found = await cgroupsOfOthers(tree);
      const wasShared = others.length > 0;
      others = found;
      return wasShared !== found.length > 0;
    },
    isShared: () => others.length > 0,
    why: () => (others.length === 0 ? undefined : sharedWith(cgroupPath(['kubepods'], tree.place), others)),
    noteMade: (path) => void madeHere.add(path),
    mayChange: (path) => {
      if (others.length === 0) return true;
      return madeHere.has(path) && !others.some((each) => each.startsWith(`${path}/`));
    },
  };
}

/** Gives the cgroups of pods that are not this agent's, below the hierarchies' roots. */
async function cgroupsOfOthers(tree: PodsTree): Promise<readonly string[]> {
  const found = SHARED.flatMap((names) => podsIn(names, tree));
  const unknown = without(found, [...tree.made], tree);
  if (unknown.length === 0) return [];
  const others = without(unknown, await tree.ownPods(), tree);
  // A pod of ours loses its cgroup before its directory: one may have lost both since.
  const left = new Set(SHARED.flatMap((names) => podsIn(names, tree)).map(({ path }) => path));
  return others.flatMap(({ path }) => (left.has(path) ? [path] : []));
}

function sharedWith(cgroup: string, others: readonly string[]): string {
  const [first] = others;
  const held =
    others.length === 1 ? `the cgroup of a pod (/${first})` : `${others.length} pod cgroups (such as /${first})`;
  return `${cgroup} holds ${held} that this agent did not make: does another kubelet use the same cgroup root? Until they are gone, the limits of all pods and of the QoS classes are not set; a cgroupRoot of its own in the configuration keeps this agent's pods apart`;
}

interface FoundPod {
  /** As the runtime is told it: a systemd slice by its name. */
  readonly name: string;
  readonly path: string;
}

function podsIn(names: readonly string[], { place, hierarchies }: PodsTree): FoundPod[] {
  const path = relativePath(cgroupPath(names, place));
  const root = hierarchyOf(hierarchies, 'cpu')?.root ?? hierarchies[0]?.root;
  if (root === undefined) return [];
  return namesIn(join(root, path)).flatMap((name) => (isPod(name) ? [{ name, path: `${path}/${name}` }] : []));
}

/** `pod<uid>`, or `kubepods-burstable-pod<uid>.slice`, in which the dashes of a UID are underscores. */
const isPod = (name: string): boolean => /^pod[^/]+$/.test(name) || /-pod[^-]+\.slice$/.test(name);

function without(found: readonly FoundPod[], uids: readonly string[], { place }: PodsTree): FoundPod[] {
  const own = new Set(
    uids.flatMap((uid) =>
      SHARED.map((names) =>
        relativePath(cgroupPath([...names, `pod${uid}`], place))
          .split('/')
          .at(-1),
      ),
    ),
  );
  return found.filter(({ name }) => !own.has(name));
}

/** A kernel's directory is read at once. */
function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
