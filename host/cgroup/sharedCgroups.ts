/** Detects pod cgroups of other agents, e.g. a kubelet, in the same tree. */
import { basename, join } from 'node:path';
import { type CgroupLocation, cgroupPath } from '../../kubernetes/resources/cgroup.ts';
import type { Cgroupfs } from './cgroupfs.ts';
import { findHierarchy, type Hierarchy } from './hierarchies.ts';
import { relativePath } from './remove.ts';

interface SharedTree {
  readonly cgroupfs: Cgroupfs;
  readonly parentCgroup: CgroupLocation;
  readonly hierarchies: readonly Hierarchy[];
  /** Returns the UIDs of all pods of this agent. Called only if there is a pod cgroup of unknown origin. */
  readonly listOwnPods: () => Promise<readonly string[]>;
}

/** Cgroups that all pods share: the parent of all pods and the cgroups of the QoS classes. */
const SHARED_CGROUPS = [['kubepods'], ['kubepods', 'burstable'], ['kubepods', 'besteffort']];

/** The shared cgroups and whether they contain pods of other agents. */
interface SharedCgroups {
  /** Inspects the cgroups again. Returns whether `isShared` has changed. */
  refresh(): Promise<boolean>;
  isShared(): boolean;
  /**
   * Returns a message that states why the cgroups are considered shared and how to fix that. Undefined if the cgroups
   * are not shared.
   */
  sharedMessage(): string | undefined;
  /** Records that a pod's cgroup belongs to this agent. */
  recordOwnPod(uid: string): void;
  forget(uid: string): void;
  /** Records that this agent created a shared cgroup. */
  recordCreatedCgroup(path: string): void;
  /**
   * Whether a cgroup may be changed. If the tree contains pods of other agents, only cgroups that this agent created
   * and that contain none of these pods may be changed.
   */
  mayChange(path: string): boolean;
}

export function sharedCgroups(tree: SharedTree): SharedCgroups {
  let foreignPaths: readonly string[] = [];
  const ownNames = trackOwnNames(tree);
  const createdPaths = new Set<string>();
  return {
    refresh: async () => {
      const currentPaths = await findForeignCgroups(tree, ownNames);
      const wasShared = foreignPaths.length > 0;
      foreignPaths = currentPaths;
      return wasShared !== currentPaths.length > 0;
    },
    isShared: () => foreignPaths.length > 0,
    sharedMessage: () =>
      foreignPaths.length === 0
        ? undefined
        : describeSharing(cgroupPath(['kubepods'], tree.parentCgroup), foreignPaths),
    recordOwnPod: ownNames.add,
    forget: ownNames.remove,
    recordCreatedCgroup: (path) => void createdPaths.add(path),
    mayChange: (path) => {
      if (foreignPaths.length === 0) return true;
      return (
        (createdPaths.has(path) || ownNames.has(basename(path))) &&
        !foreignPaths.some((foreignPath) => foreignPath.startsWith(`${path}/`))
      );
    },
  };
}

/** Names of cgroups that belong to this agent's pods. */
interface OwnCgroupNames {
  has(name: string): boolean;
  add(uid: string): void;
  remove(uid: string): void;
  /**
   * Accepts the existing cgroups of the pods with these UIDs as this agent's own, because an earlier run created them.
   */
  confirm(podCgroups: readonly ListedPodCgroup[], uids: readonly string[]): void;
  /** Drops accepted cgroups that no longer exist. If a cgroup reappears, it must be confirmed again. */
  prune(podCgroups: readonly ListedPodCgroup[]): void;
}

function trackOwnNames({ parentCgroup }: SharedTree): OwnCgroupNames {
  const addedNames = new Set<string>();
  let confirmedNames: ReadonlySet<string> = new Set();
  const podCgroupNames = (uid: string): string[] =>
    SHARED_CGROUPS.map((names) => basename(relativePath(cgroupPath([...names, `pod${uid}`], parentCgroup))));
  return {
    has: (name) => addedNames.has(name) || confirmedNames.has(name),
    add: (uid) => {
      for (const name of podCgroupNames(uid)) addedNames.add(name);
    },
    remove: (uid) => {
      for (const name of podCgroupNames(uid)) addedNames.delete(name);
    },
    confirm: (podCgroups, uids) => {
      const names = new Set(uids.flatMap(podCgroupNames));
      confirmedNames = new Set(podCgroups.flatMap(({ name }) => (names.has(name) ? [name] : [])));
    },
    prune: (podCgroups) => {
      if (confirmedNames.size > 0)
        confirmedNames = new Set(podCgroups.flatMap(({ name }) => (confirmedNames.has(name) ? [name] : [])));
    },
  };
}

/** Returns the paths of pod cgroups that do not belong to this agent. */
async function findForeignCgroups(tree: SharedTree, ownNames: OwnCgroupNames): Promise<readonly string[]> {
  const podCgroups = SHARED_CGROUPS.flatMap((names) => listPodCgroups(names, tree));
  ownNames.prune(podCgroups);
  if (podCgroups.every(({ name }) => ownNames.has(name))) return [];
  ownNames.confirm(podCgroups, await tree.listOwnPods());
  const foreignPods = podCgroups.filter(({ name }) => !ownNames.has(name));
  // Ignore cgroups that have disappeared, because they may belong to a pod of this agent that was removed after they
  // were listed. The directory of a pod, which identifies its owner, is removed after its cgroup.
  const remainingPaths = new Set(
    SHARED_CGROUPS.flatMap((names) => listPodCgroups(names, tree)).map(({ path }) => path),
  );
  return foreignPods.flatMap(({ path }) => (remainingPaths.has(path) ? [path] : []));
}

function describeSharing(cgroup: string, foreignPaths: readonly string[]): string {
  const [first] = foreignPaths;
  const description =
    foreignPaths.length === 1
      ? `the cgroup of a pod (/${first})`
      : `${foreignPaths.length} pod cgroups (such as /${first})`;
  return `${cgroup} contains ${description} that this agent did not create: is a kubelet using the same cgroup root? Until they are gone, the limits of all pods and of the QoS classes are not set; set cgroupRoot in the configuration to separate the pods of this agent`;
}

interface ListedPodCgroup {
  /** Name as passed to the runtime. For systemd, the name of the slice. */
  readonly name: string;
  readonly path: string;
}

function listPodCgroups(
  names: readonly string[],
  { cgroupfs, parentCgroup, hierarchies }: SharedTree,
): ListedPodCgroup[] {
  const path = relativePath(cgroupPath(names, parentCgroup));
  const root = findHierarchy(hierarchies, 'cpu')?.root ?? hierarchies[0]?.root;
  if (root === undefined) return [];
  return cgroupfs
    .names(join(root, path))
    .flatMap((name) => (isPodCgroupName(name) ? [{ name, path: `${path}/${name}` }] : []));
}

/**
 * Whether a name is `pod<uid>` or `kubepods-burstable-pod<uid>.slice`, in which the dashes of the UID are underscores.
 */
const isPodCgroupName = (name: string): boolean => /^pod[^/]+$/.test(name) || /-pod[^-]+\.slice$/.test(name);
