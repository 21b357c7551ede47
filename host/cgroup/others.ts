/** The cgroups of pods that somebody else has made in the tree in which this node's pods are: another kubelet's. */
import { basename, join } from 'node:path';
import { type CgroupPlace, cgroupPath } from '../../kubernetes/resources/cgroup.ts';
import type { Cgroupfs } from './cgroupfs.ts';
import { type Hierarchy, hierarchyOf } from './hierarchies.ts';
import { relativePath } from './remove.ts';

interface PodsTree {
  readonly cgroupfs: Cgroupfs;
  readonly place: CgroupPlace;
  readonly hierarchies: readonly Hierarchy[];
  /** The UIDs of all pods of this agent; asked when there is a cgroup of a pod that is not known to be one of them. */
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
  /** The cgroup of this pod is this agent's, until it is forgotten. */
  noteOwn(uid: string): void;
  forget(uid: string): void;
  /** This one of those that pods share was not there before. */
  noteMade(path: string): void;
  /** What holds pods of somebody else is left as it is, and what is above it, and all that was there before. */
  mayChange(path: string): boolean;
}

export function sharedCgroups(tree: PodsTree): SharedCgroups {
  let others: readonly string[] = [];
  const own = ownNames(tree);
  const madeHere = new Set<string>();
  return {
    look: async () => {
      const found = await cgroupsOfOthers(tree, own);
      const wasShared = others.length > 0;
      others = found;
      return wasShared !== found.length > 0;
    },
    isShared: () => others.length > 0,
    why: () => (others.length === 0 ? undefined : sharedWith(cgroupPath(['kubepods'], tree.place), others)),
    noteOwn: own.add,
    forget: own.remove,
    noteMade: (path) => void madeHere.add(path),
    mayChange: (path) => {
      if (others.length === 0) return true;
      return (madeHere.has(path) || own.has(basename(path))) && !others.some((each) => each.startsWith(`${path}/`));
    },
  };
}

/** The names of the cgroups that are known to be of this agent's pods. */
interface OwnNames {
  has(name: string): boolean;
  add(uid: string): void;
  remove(uid: string): void;
  /** Of those that were found, these pods' are this agent's as long as they are found: a former run has made them. */
  confirm(found: readonly FoundPod[], uids: readonly string[]): void;
  /** A former run's that are not found any more: should they come back, they have to be confirmed again. */
  prune(found: readonly FoundPod[]): void;
}

function ownNames({ place }: PodsTree): OwnNames {
  const noted = new Set<string>();
  let confirmed: ReadonlySet<string> = new Set();
  const namesOf = (uid: string): string[] =>
    SHARED.map((names) => basename(relativePath(cgroupPath([...names, `pod${uid}`], place))));
  return {
    has: (name) => noted.has(name) || confirmed.has(name),
    add: (uid) => {
      for (const name of namesOf(uid)) noted.add(name);
    },
    remove: (uid) => {
      for (const name of namesOf(uid)) noted.delete(name);
    },
    confirm: (found, uids) => {
      const names = new Set(uids.flatMap(namesOf));
      confirmed = new Set(found.flatMap(({ name }) => (names.has(name) ? [name] : [])));
    },
    prune: (found) => {
      if (confirmed.size > 0) confirmed = new Set(found.flatMap(({ name }) => (confirmed.has(name) ? [name] : [])));
    },
  };
}

/** Gives the cgroups of pods that are not this agent's, below the hierarchies' roots. */
async function cgroupsOfOthers(tree: PodsTree, own: OwnNames): Promise<readonly string[]> {
  const found = SHARED.flatMap((names) => podsIn(names, tree));
  own.prune(found);
  if (found.every(({ name }) => own.has(name))) return [];
  own.confirm(found, await tree.ownPods());
  const others = found.filter(({ name }) => !own.has(name));
  // A pod of ours loses its cgroup before its directory: one may have lost both since.
  const left = new Set(SHARED.flatMap((names) => podsIn(names, tree)).map(({ path }) => path));
  return others.flatMap(({ path }) => (left.has(path) ? [path] : []));
}

function sharedWith(cgroup: string, others: readonly string[]): string {
  const [first] = others;
  const held =
    others.length === 1 ? `the cgroup of a pod (/${first})` : `${others.length} pod cgroups (such as /${first})`;
  return `${cgroup} contains ${held} that this agent did not create: is a kubelet using the same cgroup root? Until they are gone, the limits of all pods and of the QoS classes are not set; set cgroupRoot in the configuration to separate the pods of this agent`;
}

interface FoundPod {
  /** As the runtime is told it: a systemd slice by its name. */
  readonly name: string;
  readonly path: string;
}

function podsIn(names: readonly string[], { cgroupfs, place, hierarchies }: PodsTree): FoundPod[] {
  const path = relativePath(cgroupPath(names, place));
  const root = hierarchyOf(hierarchies, 'cpu')?.root ?? hierarchies[0]?.root;
  if (root === undefined) return [];
  return cgroupfs.names(join(root, path)).flatMap((name) => (isPod(name) ? [{ name, path: `${path}/${name}` }] : []));
}

/** `pod<uid>`, or `kubepods-burstable-pod<uid>.slice`, in which the dashes of a UID are underscores. */
const isPod = (name: string): boolean => /^pod[^/]+$/.test(name) || /-pod[^-]+\.slice$/.test(name);
