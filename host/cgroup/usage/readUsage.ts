/** Reads what cgroups use, in whatever hierarchies the host has them: all in one (v2), one a controller (v1), or both. */
import { join } from 'node:path';
import { type Cgroupfs, hostCgroupfs } from '../cgroupfs.ts';
import { type Hierarchy, hierarchyOf } from '../hierarchies.ts';
import type { CgroupPressure, CgroupUsage, CpuUsage, DeviceUsage, MemoryUsage, UsagePart } from './cgroupUsage.ts';
import { parseIoStat } from './devices.ts';
import { Seldom } from './seldom.ts';
import { accountedV1, type CgroupDirectory, ioV1, memoryV1, pids, scheduledV1 } from './usageV1.ts';
import { cpuV2, memoryV2, pressureV2 } from './usageV2.ts';

export interface UsageParts {
  readonly hierarchies: readonly Hierarchy[];
  /** The host's own when absent. */
  readonly cgroupfs?: Pick<Cgroupfs, 'read' | 'exists'>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * Gives what a cgroup uses, by its path below the hierarchies' roots (empty: the root itself), or undefined where there is
 * none. On the spot, as these files are in memory: about 0.2 ms for all parts. Throws where too many files are open.
 */
export type ReadUsage = (path: string, parts?: readonly UsagePart[]) => CgroupUsage | undefined;

const ALL: readonly UsagePart[] = ['cpu', 'memory', 'pids', 'io', 'pressure'];

export function usageReader({ hierarchies, cgroupfs = hostCgroupfs, now }: UsageParts): ReadUsage {
  const seldom = new Seldom(now);
  const find = finder(hierarchies, cgroupfs, seldom);
  const { root } = hierarchyOf(hierarchies, 'memory') ?? hierarchies[0] ?? {};
  return (path, parts = ALL) => {
    const readAt = now();
    // Whether it is there at all is looked at in one hierarchy.
    if (root !== undefined && !cgroupfs.exists(join(root, path))) seldom.forget(path);
    const of = (controller: string) => find(controller, path);
    const wants = (part: UsagePart) => parts.includes(part);
    const usage = {
      cpu: wants('cpu') ? readCpu(of) : undefined,
      memory: wants('memory') ? readMemory(of, cgroupfs) : undefined,
      pids: wants('pids') ? found(of('pids'), pids) : undefined,
      io: wants('io') ? readIo(of) : undefined,
      pressure: wants('pressure') ? readPressure(of) : undefined,
    };
    const isThere = Object.values(usage).some((part) => part !== undefined);
    return isThere ? { readAt, ...usage } : undefined;
  };
}

/** Where a controller's files of the cgroup are; no directory: it has no such cgroup. */
interface Found {
  readonly version?: Hierarchy['version'] | undefined;
  readonly directory?: CgroupDirectory;
}

type Find = (controller: string) => Found;

/** A controller that no hierarchy of v1 has is in that of v2, even if the kernel does not let it limit anything there. */
function finder(hierarchies: readonly Hierarchy[], cgroupfs: Pick<Cgroupfs, 'read' | 'exists'>, seldom: Seldom) {
  const unified = hierarchies.find(({ version }) => version === 'v2');
  return (controller: string, path: string): Found => {
    const { root, version } = hierarchyOf(hierarchies, controller) ?? unified ?? {};
    if (root === undefined) return { version };
    const place = join(root, path);
    const look = seldom.of(path);
    if (!look(place, () => cgroupfs.exists(place))) {
      // It may be about to be made.
      seldom.forget(path);
      return { version };
    }
    const read = (file: string) => cgroupfs.read(`${place}/${file}`);
    const has = (file: string) => look(`has ${file}`, () => cgroupfs.exists(`${place}/${file}`));
    return { version, directory: { read, has, setting: (file) => look(file, () => read(file)) } };
  };
}

const found = <T>({ directory }: Found, read: (directory: CgroupDirectory) => T): T | undefined =>
  directory === undefined ? undefined : read(directory);

function readCpu(of: Find): CpuUsage | undefined {
  const [cpu, accounted] = [of('cpu'), of('cpuacct')];
  if (accounted.version !== 'v1') return found(cpu, cpuV2);
  if (cpu.directory === undefined && accounted.directory === undefined) return undefined;
  return { ...found(cpu, scheduledV1), ...found(accounted, accountedV1) };
}

function readMemory(of: Find, { read }: Pick<Cgroupfs, 'read'>): MemoryUsage | undefined {
  const memory = of('memory');
  if (memory.version === 'v1') return found(memory, memoryV1);
  return found(memory, (directory) => memoryV2(directory, () => read('/proc/meminfo')));
}

function readIo(of: Find): readonly DeviceUsage[] | undefined {
  const blkio = of('blkio');
  if (blkio.version === 'v1') return found(blkio, ioV1);
  const text = of('io').directory?.read('io.stat');
  return text === undefined ? undefined : parseIoStat(text);
}

/** Only on a host that has v2 alone, as in a kubelet (`IsPsiEnabled` in `pkg/kubelet/cadvisor/cadvisor_linux.go`). */
function readPressure(of: Find): CgroupPressure | undefined {
  const memory = of('memory');
  return memory.version === 'v2' ? found(memory, pressureV2) : undefined;
}
