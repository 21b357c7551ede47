/** What of the host stands in summaries beside what is used. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Hierarchy } from '../host/cgroup/hierarchies.ts';
import { bootTime, memoryTotals, taskCount, taskLimit } from '../host/usage/hostFacts.ts';
import type { HostTotals } from './cgroupStats.ts';

export interface HostFacts {
  /** Milliseconds since the epoch. */
  readonly bootTime: number;
  readonly totals: HostTotals;
  /** How many processes and threads there may be, and are. */
  tasks(): { readonly maxpid?: number | undefined; readonly curproc?: number | undefined };
  /** When a cgroup was made, by its path as samples have it; the time of the boot where that is not known. */
  madeAt(path: string): number;
}

/** Those of this host; what does not change is read once. */
export function hostFacts(hierarchies: readonly Hierarchy[]): HostFacts {
  const read = (path: string): string | undefined => {
    try {
      return readFileSync(path, 'utf8');
    } catch {
      return undefined;
    }
  };
  const begun = bootTime(read('/proc/stat') ?? '') ?? 0;
  return {
    bootTime: begun,
    totals: memoryTotals(read('/proc/meminfo') ?? ''),
    tasks: () => ({
      maxpid: taskLimit(read('/proc/sys/kernel/pid_max'), read('/proc/sys/kernel/threads-max')),
      curproc: taskCount(read('/proc/loadavg') ?? ''),
    }),
    madeAt: (path) => Math.max(begun, oldestOf(hierarchies, path) ?? begun),
  };
}

/**
 * A directory's own time changes with what is made in it; those of files of the kernel do not (`getSpecInternal` in cAdvisor's
 * `container/common/helpers.go`).
 */
function oldestOf(hierarchies: readonly Hierarchy[], path: string): number | undefined {
  const times = hierarchies.flatMap(({ root, version }) =>
    ['', version === 'v2' ? 'cgroup.events' : 'cgroup.clone_children'].flatMap((file) => {
      const found = statSync(join(root, path, file), { throwIfNoEntry: false });
      return found === undefined ? [] : [found.mtimeMs];
    }),
  );
  return times.length > 0 ? Math.min(...times) : undefined;
}
