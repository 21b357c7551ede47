/** Reads the properties of the host that a summary contains in addition to the resource usage. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Hierarchy } from '../../host/cgroup/hierarchies.ts';
import { lowestTaskLimit, parseBootTime, parseMemoryTotals, parseTaskCount } from '../../host/usage/hostFacts.ts';
import type { HostTotals } from '../cgroupStats.ts';

export interface HostFacts {
  /** Time at which the host was booted, in milliseconds since the epoch. Undefined if unknown. */
  readonly bootTime: number | undefined;
  readonly memoryTotals: HostTotals;
  /** The maximum and current number of tasks (processes and threads). */
  taskStats(): { readonly maxpid?: number | undefined; readonly curproc?: number | undefined };
  /**
   * Returns the creation time of the cgroup at a path, or the boot time if the creation time is unknown. Undefined if
   * neither is known.
   */
  cgroupCreationTime(path: string): number | undefined;
}

/** Reads the properties of the host from `procfs`. Properties that never change are read only once. */
export function createHostFacts(hierarchies: readonly Hierarchy[], procfs = '/proc'): HostFacts {
  const readProcFile = (path: string): string | undefined => {
    try {
      return readFileSync(join(procfs, path), 'utf8');
    } catch {
      return undefined;
    }
  };
  const bootedAt = parseBootTime(readProcFile('stat') ?? '');
  return {
    bootTime: bootedAt,
    memoryTotals: parseMemoryTotals(readProcFile('meminfo') ?? ''),
    taskStats: () => ({
      maxpid: lowestTaskLimit(readProcFile('sys/kernel/pid_max'), readProcFile('sys/kernel/threads-max')),
      curproc: parseTaskCount(readProcFile('loadavg') ?? ''),
    }),
    cgroupCreationTime: (path) => latestTime(bootedAt, oldestModificationTime(hierarchies, path)),
  };
}

const latestTime = (...times: readonly (number | undefined)[]): number | undefined => {
  const definedTimes = times.filter((time) => time !== undefined);
  return definedTimes.length > 0 ? Math.max(...definedTimes) : undefined;
};

/**
 * Returns the earlier of two modification times: that of a cgroup's directory and that of a file that the kernel
 * creates in it. The directory's time changes whenever entries are created in the directory, but the file's time does
 * not (`getSpecInternal` in cAdvisor's `container/common/helpers.go`).
 */
function oldestModificationTime(hierarchies: readonly Hierarchy[], path: string): number | undefined {
  const modificationTimes = hierarchies.flatMap(({ root, version }) =>
    ['', version === 'v2' ? 'cgroup.events' : 'cgroup.clone_children'].flatMap((file) => {
      const stats = statSync(join(root, path, file), { throwIfNoEntry: false });
      return stats === undefined ? [] : [stats.mtimeMs];
    }),
  );
  return modificationTimes.length > 0 ? Math.min(...modificationTimes) : undefined;
}
