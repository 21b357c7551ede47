/** What a cgroup uses, as far as the kernel says: what no file tells is absent, or undefined. */

export interface CgroupUsage {
  /** When it was read, in milliseconds since the epoch. */
  readonly readAt: number;
  readonly cpu?: CpuUsage | undefined;
  readonly memory?: MemoryUsage | undefined;
  readonly pids?: PidsUsage | undefined;
  /** Each block device that it has read or written. */
  readonly io?: readonly DeviceUsage[] | undefined;
  readonly pressure?: CgroupPressure | undefined;
}

/** Its parts, which are read only when they are asked for. */
export type UsagePart = Exclude<keyof CgroupUsage, 'readAt'>;

export interface CpuUsage {
  /** Nanoseconds since the cgroup was made; on v1 its user and system time are counted in ticks of 10 ms. */
  readonly usageNs?: number | undefined;
  readonly userNs?: number | undefined;
  readonly systemNs?: number | undefined;
  /** The periods in which its quota was enforced, in which it was throttled, and for how long. */
  readonly periods?: number | undefined;
  readonly throttledPeriods?: number | undefined;
  readonly throttledNs?: number | undefined;
  /** On v2: the periods in which it has used more than its quota, and how much. */
  readonly bursts?: number | undefined;
  readonly burstNs?: number | undefined;
  /** Absent: no quota. */
  readonly quotaUs?: number | undefined;
  readonly periodUs?: number | undefined;
  /** In the range of v1, 2 to 262144; on v2 computed from its weight. */
  readonly shares?: number | undefined;
}

/** In bytes; of the cgroup and all below it. */
export interface MemoryUsage {
  readonly usage?: number | undefined;
  /** The most that it has ever used. */
  readonly max?: number | undefined;
  /** What it uses without the files that have not been used lately: what the kernel would not give back first. */
  readonly workingSet?: number | undefined;
  readonly rss?: number | undefined;
  readonly cache?: number | undefined;
  readonly mappedFile?: number | undefined;
  readonly activeFile?: number | undefined;
  readonly inactiveFile?: number | undefined;
  readonly swap?: number | undefined;
  /** On v1 only. */
  readonly kernel?: number | undefined;
  /** On v1 only: how often it has reached its limit. */
  readonly failcnt?: number | undefined;
  readonly pageFaults?: number | undefined;
  readonly majorPageFaults?: number | undefined;
  /** How often the kernel has killed for its sake: at its limit on v2, a process of its own on v1. */
  readonly oomEvents?: number | undefined;
  /** Absent: its files say nothing of limits, as at the root of v2. */
  readonly limits?: MemoryLimits | undefined;
}

/** In bytes; absent: none. */
export interface MemoryLimits {
  readonly limit?: number | undefined;
  /** On v1 of memory and swap together. */
  readonly swap?: number | undefined;
  /** What it keeps when memory gets short. */
  readonly reservation?: number | undefined;
}

export interface PidsUsage {
  /** In it and all below it. */
  readonly threads?: number | undefined;
  /** Absent: no limit. */
  readonly threadsLimit?: number | undefined;
  /** The numbers of the processes that are in itself. */
  readonly processes?: readonly number[] | undefined;
}

export interface DeviceUsage {
  readonly major: number;
  readonly minor: number;
  /** By what was done, as the kernel names it on v1: `Read`, `Write`; there also `Sync`, `Async`, `Discard`, `Total`. */
  readonly bytes: ReadonlyMap<string, number>;
  readonly operations: ReadonlyMap<string, number>;
}

/** On v2 only: how long tasks had to wait for a resource. */
export interface CgroupPressure {
  readonly cpu?: Pressure | undefined;
  readonly memory?: Pressure | undefined;
  readonly io?: Pressure | undefined;
}

export interface Pressure {
  /** At least one had to wait. */
  readonly some: PressureLine;
  /** None could go on. */
  readonly full: PressureLine;
}

export interface PressureLine {
  /** Percent of the last 10, 60 and 300 seconds. */
  readonly avg10: number;
  readonly avg60: number;
  readonly avg300: number;
  readonly totalUs: number;
}
