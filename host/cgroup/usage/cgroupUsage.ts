/** Resource usage of a cgroup. Values that the kernel does not report are undefined. */

export interface CgroupUsage {
  /** Time of the reading, in milliseconds since the epoch. */
  readonly readAt: number;
  readonly cpu?: CpuUsage | undefined;
  readonly memory?: MemoryUsage | undefined;
  readonly pids?: PidsUsage | undefined;
  /** I/O per block device. */
  readonly io?: readonly DeviceUsage[] | undefined;
  readonly pressure?: CgroupPressure | undefined;
}

/**
 * A part of the usage that a caller can request. `workingSet` is a subset of `memory`, namely the working set and the
 * amounts from which it is computed.
 */
export type UsagePart = Exclude<keyof CgroupUsage, 'readAt'> | 'workingSet';

export interface CpuUsage {
  /** CPU time since the creation of the cgroup, in nanoseconds. */
  readonly usageNs?: number | undefined;
  /** CPU time in user mode, in nanoseconds. On v1, the resolution is 10 ms. */
  readonly userNs?: number | undefined;
  /** CPU time in kernel mode, in nanoseconds. On v1, the resolution is 10 ms. */
  readonly systemNs?: number | undefined;
  /** Number of enforcement periods of the CPU quota that have elapsed. */
  readonly periods?: number | undefined;
  /** Number of periods in which the cgroup was throttled. */
  readonly throttledPeriods?: number | undefined;
  /** Total time for which the cgroup was throttled. */
  readonly throttledNs?: number | undefined;
  /** Number of periods in which the cgroup exceeded its quota in a burst. On v2 only. */
  readonly bursts?: number | undefined;
  /** Total time by which the usage exceeded the quota. On v2 only. */
  readonly burstNs?: number | undefined;
  /** Quota per enforcement period, in microseconds. Undefined if there is no quota. */
  readonly quotaUs?: number | undefined;
  readonly periodUs?: number | undefined;
  /** CPU shares in the v1 range, from 2 to 262144. On v2, computed from the weight. */
  readonly shares?: number | undefined;
}

/** Memory usage of the cgroup and its descendants, in bytes. */
export interface MemoryUsage {
  readonly usage?: number | undefined;
  /** Peak usage. */
  readonly max?: number | undefined;
  /** Usage without inactive files, which the kernel would reclaim first. */
  readonly workingSet?: number | undefined;
  readonly rss?: number | undefined;
  readonly cache?: number | undefined;
  readonly mappedFile?: number | undefined;
  readonly activeFile?: number | undefined;
  readonly inactiveFile?: number | undefined;
  readonly swap?: number | undefined;
  /** Kernel memory. On v1 only. */
  readonly kernel?: number | undefined;
  /** Number of times that the limit was reached. On v1 only. */
  readonly failcnt?: number | undefined;
  readonly pageFaults?: number | undefined;
  readonly majorPageFaults?: number | undefined;
  /**
   * Number of OOM events. On v2, counts how often the cgroup was out of memory because of its own limit. On v1, counts
   * the processes of the cgroup that the OOM killer has killed.
   */
  readonly oomEvents?: number | undefined;
  /** Limits of the cgroup. Undefined if there are no limit files, as in the root cgroup on v2. */
  readonly limits?: MemoryLimits | undefined;
}

/** Limits in bytes. Undefined means no limit. */
export interface MemoryLimits {
  readonly limit?: number | undefined;
  /** Swap limit. On v1, this is the limit of memory plus swap. */
  readonly swap?: number | undefined;
  /** Amount of memory that is protected from reclaim under memory pressure. */
  readonly reservation?: number | undefined;
}

export interface PidsUsage {
  /** Number of threads in the cgroup and its descendants. */
  readonly threads?: number | undefined;
  /** Maximum number of threads. Undefined if there is no limit. */
  readonly threadsLimit?: number | undefined;
  /** PIDs of the processes in the cgroup itself. */
  readonly processes?: readonly number[] | undefined;
}

export interface DeviceUsage {
  readonly major: number;
  readonly minor: number;
  /** Bytes by operation: `Read` and `Write`, and on v1 also `Sync`, `Async`, `Discard` and `Total`. */
  readonly bytes: ReadonlyMap<string, number>;
  /** Number of operations, with the same keys as `bytes`. */
  readonly operations: ReadonlyMap<string, number>;
  /**
   * Counters of the kernel's I/O cost model in microseconds, by `io.stat` field, e.g. `cost.usage`. They exist only on
   * v2 and for devices for which `io.cost.qos` is enabled. Undefined for other devices.
   */
  readonly costMicros?: ReadonlyMap<string, number> | undefined;
}

/** Pressure stall information, on v2 only. */
export interface CgroupPressure {
  readonly cpu?: Pressure | undefined;
  readonly memory?: Pressure | undefined;
  readonly io?: Pressure | undefined;
}

export interface Pressure {
  /** Time for which at least one task was stalled. */
  readonly some: PressureLine;
  /** Time for which all tasks were stalled simultaneously. */
  readonly full: PressureLine;
}

export interface PressureLine {
  /** Percentage of the last 10 seconds that was spent stalled. */
  readonly avg10: number;
  /** Percentage of the last 60 seconds that was spent stalled. */
  readonly avg60: number;
  /** Percentage of the last 300 seconds that was spent stalled. */
  readonly avg300: number;
  readonly totalUs: number;
}
