/** Sets the configured limits on existing cgroups that this agent did not create. */
import { basename, join, normalize } from 'node:path';
import type { CgroupLocation } from '../../kubernetes/resources/cgroup.ts';
import type { CgroupLimits } from '../../kubernetes/resources/cgroupLimits.ts';
import type { Cgroupfs } from './cgroupfs.ts';
import { writeLimits } from './files.ts';
import { findHierarchy, type Hierarchy } from './hierarchies.ts';
import { relativePath } from './remove.ts';
import { type CallSystemd, setSliceLimits } from './systemd.ts';

interface ExistingCgroupParts {
  readonly cgroupfs: Cgroupfs;
  readonly hierarchies: readonly Hierarchy[];
  readonly cgroupDriver: CgroupLocation['cgroupDriver'];
  readonly systemd: CallSystemd;
}

/**
 * Controllers in whose hierarchies the kubelet requires the cgroup to exist (`Validate` in
 * `pkg/kubelet/cm/cgroup_v1_manager_linux.go`).
 */
const V1_CONTROLLERS = ['cpu', 'cpuacct', 'cpuset', 'memory', 'pids', 'hugetlb'];
/** Controllers that the kubelet requires if the host has them (`getSupportedUnifiedControllers`). */
const V2_CONTROLLERS = ['cpu', 'cpuset', 'hugetlb', 'memory', 'pids'];

const SLICE_SUFFIX = '.slice';

/**
 * Sets the given limits of a cgroup, and leaves its other limits alone. Throws with the kubelet's message if the cgroup
 * does not exist in each hierarchy. With systemd, `name` is the name of a slice, with or without its suffix and
 * parents.
 */
export async function limitExistingCgroup(
  name: string,
  limits: CgroupLimits | undefined,
  { cgroupfs, hierarchies, cgroupDriver, systemd }: ExistingCgroupParts,
): Promise<void> {
  const isSlice = cgroupDriver === 'systemd';
  const sliceName = basename(name, SLICE_SUFFIX);
  const slice = `${sliceName}${SLICE_SUFFIX}`;
  const path = isSlice ? relativePath(slice) : normalize(`/${name}`).slice(1);
  // Restore the dashes in the components, which are escaped as underscores in the name of a slice.
  const components = isSlice ? sliceName.split('-').map((part) => part.replaceAll('_', '-')) : path.split('/');
  const quotedName = `[${components.map((component) => JSON.stringify(component)).join(' ')}]`;
  if (limits === undefined) throw new Error(`${quotedName} cgroup is not configured properly`);
  assertExists({ cgroupfs, hierarchies, path, quotedName });
  const version = findHierarchy(hierarchies, 'cpu')?.version ?? 'v2';
  if (isSlice) await setSliceLimits(systemd, slice, limits, version);
  await writeLimits({ cgroupfs, hierarchies, path }, limits);
}

function assertExists({
  hierarchies,
  ...cgroup
}: CheckedCgroup & { readonly hierarchies: readonly Hierarchy[] }): void {
  // On a hybrid host, the kubelet uses only the v1 hierarchies.
  if (findHierarchy(hierarchies, 'cpu')?.version === 'v1') assertV1Exists(hierarchies, cgroup);
  else assertV2Exists(findHierarchy(hierarchies, 'cpu'), cgroup);
}

interface CheckedCgroup {
  readonly cgroupfs: Cgroupfs;
  readonly path: string;
  readonly quotedName: string;
}

function assertV1Exists(hierarchies: readonly Hierarchy[], { cgroupfs, path, quotedName }: CheckedCgroup): void {
  const missingPaths = hierarchies
    .filter(({ version, controllers }) => version === 'v1' && controllers.some((each) => V1_CONTROLLERS.includes(each)))
    .map(({ root }) => join(root, path))
    .filter((directory) => !cgroupfs.exists(directory));
  if (missingPaths.length > 0)
    throw new Error(`cgroup ${quotedName} has some missing paths: ${missingPaths.join(', ')}`);
}

function assertV2Exists(hierarchy: Hierarchy | undefined, { cgroupfs, path, quotedName }: CheckedCgroup): void {
  const directory = join(hierarchy?.root ?? '/sys/fs/cgroup', path);
  const enabledText = cgroupfs.read(join(directory, 'cgroup.controllers'));
  if (enabledText === undefined)
    throw new Error(`could not read controllers for cgroup ${quotedName}: ${directory} does not exist`);
  const enabledControllers = enabledText.trim().split(/\s+/);
  const missingControllers = V2_CONTROLLERS.filter(
    (each) => hierarchy?.controllers.includes(each) && !enabledControllers.includes(each),
  );
  if (missingControllers.length > 0)
    throw new Error(`cgroup ${quotedName} has some missing controllers: ${missingControllers.join(', ')}`);
}
