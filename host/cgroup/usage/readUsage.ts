/** Reads the usage of cgroups in all hierarchies. */
import { join } from 'node:path';
import { type Cgroupfs, hostCgroupfs } from '../cgroupfs.ts';
import { findHierarchy, type Hierarchy } from '../hierarchies.ts';
import type { CgroupPressure, CgroupUsage, CpuUsage, DeviceUsage, MemoryUsage, UsagePart } from './cgroupUsage.ts';
import { parseIoStat } from './devices.ts';
import { SettingsCache } from './settingsCache.ts';
import {
  type CgroupDirectory,
  readCpuacctV1,
  readCpuV1,
  readIoV1,
  readMemoryV1,
  readPids,
  readWorkingSetV1,
} from './usageV1.ts';
import { readCpuV2, readMemoryV2, readPressureV2, readWorkingSetV2 } from './usageV2.ts';

export interface UsageReaderInput {
  readonly hierarchies: readonly Hierarchy[];
  /** The cgroup file system. Defaults to the host's. */
  readonly cgroupfs?: Pick<Cgroupfs, 'read' | 'exists'>;
  /** Returns the current time in milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * Reads the usage of a cgroup, whose path is relative to the hierarchies' roots (empty for the root). Returns undefined
 * if the cgroup does not exist. Synchronous, because these files are in memory and all parts take only about 0.2 ms.
 * Throws if too many files are open. Limits may be up to a minute old, unless `isLimitCurrent` is set.
 */
export type ReadUsage = (
  path: string,
  parts?: readonly UsagePart[],
  options?: { readonly isLimitCurrent: boolean },
) => CgroupUsage | undefined;

const ALL_USAGE_PARTS: readonly UsagePart[] = ['cpu', 'memory', 'pids', 'io', 'pressure'];

export function createUsageReader({ hierarchies, cgroupfs = hostCgroupfs, now }: UsageReaderInput): ReadUsage {
  const settingsCache = new SettingsCache(now);
  const locateFiles = createLocator(hierarchies, cgroupfs, settingsCache);
  const { root } = findHierarchy(hierarchies, 'memory') ?? hierarchies[0] ?? {};
  return (path, parts = ALL_USAGE_PARTS, { isLimitCurrent } = { isLimitCurrent: false }) => {
    const readAt = now();
    // Drop the cached settings if the caller needs current limits or if the cgroup no longer exists, which one
    // hierarchy suffices to check.
    if (isLimitCurrent || (root !== undefined && !cgroupfs.exists(join(root, path)))) settingsCache.forget(path);
    const locateController = (controller: string) => locateFiles(controller, path);
    const includesPart = (part: UsagePart) => parts.includes(part);
    const usage = {
      cpu: includesPart('cpu') ? readCpu(locateController) : undefined,
      memory: includesPart('memory')
        ? readMemory(locateController, cgroupfs)
        : includesPart('workingSet')
          ? readWorkingSet(locateController)
          : undefined,
      pids: includesPart('pids') ? readIfExists(locateController('pids'), readPids) : undefined,
      io: includesPart('io') ? readIo(locateController) : undefined,
      pressure: includesPart('pressure') ? readPressure(locateController) : undefined,
    };
    const exists = Object.values(usage).some((part) => part !== undefined);
    return exists ? { readAt, ...usage } : undefined;
  };
}

/** Files of a controller in a cgroup. `directory` is undefined if the cgroup does not exist in the hierarchy. */
interface ControllerFiles {
  readonly version?: Hierarchy['version'] | undefined;
  readonly directory?: CgroupDirectory;
}

type LocateController = (controller: string) => ControllerFiles;

/**
 * Returns a function that locates a controller's files. A controller without a v1 hierarchy is located in the v2
 * hierarchy, even if that hierarchy does not list the controller.
 */
function createLocator(
  hierarchies: readonly Hierarchy[],
  cgroupfs: Pick<Cgroupfs, 'read' | 'exists'>,
  settingsCache: SettingsCache,
) {
  const unifiedHierarchy = hierarchies.find(({ version }) => version === 'v2');
  return (controller: string, path: string): ControllerFiles => {
    const { root, version } = findHierarchy(hierarchies, controller) ?? unifiedHierarchy ?? {};
    if (root === undefined) return { version };
    const directoryPath = join(root, path);
    const readCached = settingsCache.forCgroup(path);
    if (!readCached(directoryPath, () => cgroupfs.exists(directoryPath))) {
      // Do not cache the absence of the cgroup, because it may be created soon.
      settingsCache.forget(path);
      return { version };
    }
    const read = (file: string) => cgroupfs.read(`${directoryPath}/${file}`);
    const has = (file: string) => readCached(`has ${file}`, () => cgroupfs.exists(`${directoryPath}/${file}`));
    return { version, directory: { read, has, readSetting: (file) => readCached(file, () => read(file)) } };
  };
}

const readIfExists = <T>(
  { directory }: ControllerFiles,
  readUsage: (directory: CgroupDirectory) => T,
): T | undefined => (directory === undefined ? undefined : readUsage(directory));

function readCpu(locateController: LocateController): CpuUsage | undefined {
  const [cpu, cpuacct] = [locateController('cpu'), locateController('cpuacct')];
  if (cpuacct.version !== 'v1') return readIfExists(cpu, readCpuV2);
  if (cpu.directory === undefined && cpuacct.directory === undefined) return undefined;
  return { ...readIfExists(cpu, readCpuV1), ...readIfExists(cpuacct, readCpuacctV1) };
}

function readMemory(locateController: LocateController, { read }: Pick<Cgroupfs, 'read'>): MemoryUsage | undefined {
  const memory = locateController('memory');
  if (memory.version === 'v1') return readIfExists(memory, readMemoryV1);
  return readIfExists(memory, (directory) => readMemoryV2(directory, () => read('/proc/meminfo')));
}

function readWorkingSet(locateController: LocateController): MemoryUsage | undefined {
  const memory = locateController('memory');
  return readIfExists(memory, memory.version === 'v1' ? readWorkingSetV1 : readWorkingSetV2);
}

function readIo(locateController: LocateController): readonly DeviceUsage[] | undefined {
  const blkio = locateController('blkio');
  if (blkio.version === 'v1') return readIfExists(blkio, readIoV1);
  const contents = locateController('io').directory?.read('io.stat');
  return contents === undefined ? undefined : parseIoStat(contents);
}

/**
 * Reads the pressure only on hosts that have no v1 hierarchies, like the kubelet (`IsPsiEnabled` in
 * `pkg/kubelet/cadvisor/cadvisor_linux.go`).
 */
function readPressure(locateController: LocateController): CgroupPressure | undefined {
  const memory = locateController('memory');
  return memory.version === 'v2' ? readIfExists(memory, readPressureV2) : undefined;
}
