/** Formats the limits of a cgroup as files of cgroup v1 or v2, or as properties of a systemd slice. */
import type { CgroupLimits } from './cgroupLimits.ts';

/** The cgroup controllers that limit pods. */
export type Controller = 'cpu' | 'memory' | 'pids' | 'hugetlb';

/** A value to write to a cgroup file. */
export interface CgroupFile {
  readonly controller: Controller;
  readonly file: string;
  readonly value: string;
}

type CgroupVersion = 'v1' | 'v2';

/** Returns the files to write, in order. Omits controllers that the host does not have. */
export function cgroupFiles(limits: CgroupLimits, versionOf: (controller: Controller) => CgroupVersion | undefined) {
  const files = (['cpu', 'memory', 'pids', 'hugetlb'] as const).flatMap((controller): CgroupFile[] => {
    const version = versionOf(controller);
    if (version === undefined) return [];
    return FORMATTERS[version][controller](limits).map(([file, value]) => ({ controller, file, value: String(value) }));
  });
  return files;
}

type FileValues = readonly (readonly [file: string, value: string | number])[];

const FORMATTERS: Record<CgroupVersion, Record<Controller, (limits: CgroupLimits) => FileValues>> = {
  v1: {
    cpu: ({ cpuShares, cpu }) => [
      ...(cpuShares === undefined ? [] : [['cpu.shares', cpuShares] as const]),
      ...(cpu
        ? ([
            ['cpu.cfs_period_us', cpu.period],
            ['cpu.cfs_quota_us', cpu.quota],
          ] as const)
        : []),
    ],
    memory: ({ memoryBytes }) => (memoryBytes === undefined ? [] : [['memory.limit_in_bytes', memoryBytes]]),
    pids: ({ pids }) => (pids === undefined ? [] : [['pids.max', pids]]),
    hugetlb: ({ hugepages = {} }) =>
      Object.entries(hugepages).map(([size, bytes]) => [`hugetlb.${size}.limit_in_bytes`, formatExact(bytes)] as const),
  },
  v2: {
    cpu: ({ cpuShares, cpu }) => [
      ...(cpuShares === undefined ? [] : [['cpu.weight', cpuWeight(cpuShares)] as const]),
      ...(cpu ? ([['cpu.max', `${cpu.quota < 0 ? 'max' : cpu.quota} ${cpu.period}`]] as const) : []),
    ],
    memory: ({ memoryBytes, memoryMinBytes, memoryLowBytes }) => [
      ...(memoryBytes === undefined ? [] : [['memory.max', memoryBytes] as const]),
      ...(memoryMinBytes === undefined ? [] : [['memory.min', memoryMinBytes] as const]),
      ...(memoryLowBytes === undefined ? [] : [['memory.low', memoryLowBytes] as const]),
    ],
    pids: ({ pids }) => (pids === undefined ? [] : [['pids.max', pids]]),
    hugetlb: ({ hugepages = {} }) =>
      Object.entries(hugepages).map(([size, bytes]) => [`hugetlb.${size}.max`, formatExact(bytes)] as const),
  },
};

/** Formats a large number exactly, because `String` would round its last digits. */
const formatExact = (bytes: number): string => BigInt(bytes).toString();

/** Converts cpu.shares (2…262144) linearly to cpu.weight (1…10000), as the kubelet does for its cgroups. */
export function cpuWeight(shares: number): number {
  return 1 + Math.trunc(((shares - 2) * 9999) / 262_142);
}

/** A property of a systemd unit, i.e. its name, D-Bus signature and value. */
export type UnitProperty = readonly [name: string, signature: 's' | 'b' | 't' | 'as', ...value: string[]];

const UNLIMITED_QUOTA = '18446744073709551615';

/**
 * Returns the limits as properties of a systemd slice. Omits the limits of huge pages, which systemd does not support.
 */
export function sliceProperties(limits: CgroupLimits, version: CgroupVersion): UnitProperty[] {
  const { cpuShares, cpu, memoryBytes, memoryMinBytes, memoryLowBytes, pids } = limits;
  const sharesProperty = (each: number): UnitProperty =>
    version === 'v1' ? ['CPUShares', 't', String(each)] : ['CPUWeight', 't', String(cpuWeight(each))];
  return [
    ...(cpuShares === undefined ? [] : [sharesProperty(cpuShares)]),
    ...(cpu ? quotaProperties(cpu) : []),
    ...(memoryBytes === undefined
      ? []
      : [[version === 'v1' ? 'MemoryLimit' : 'MemoryMax', 't', String(memoryBytes)] as const]),
    ...(memoryMinBytes === undefined || version === 'v1' ? [] : [['MemoryMin', 't', String(memoryMinBytes)] as const]),
    ...(memoryLowBytes === undefined || version === 'v1' ? [] : [['MemoryLow', 't', String(memoryLowBytes)] as const]),
    ...(pids === undefined ? [] : [['TasksMax', 't', String(pids)] as const]),
  ];
}

/**
 * Returns the unit properties for a CPU quota. systemd expresses the quota as CPU time per second, in steps of 10 ms.
 */
function quotaProperties({ quota, period }: { quota: number; period: number }): UnitProperty[] {
  const quotaUsPerSecond = Math.ceil((quota * 1_000_000) / period / 10_000) * 10_000;
  return [
    ['CPUQuotaPerSecUSec', 't', quota < 0 ? UNLIMITED_QUOTA : String(quotaUsPerSecond)],
    ['CPUQuotaPeriodUSec', 't', String(period)],
  ];
}

/**
 * Returns the properties of a new slice, including limits and accounting. Default dependencies are disabled, because
 * systemd could otherwise stop the slice on its own.
 */
export function newSliceProperties(slice: string, limits: CgroupLimits, version: CgroupVersion): UnitProperty[] {
  const parent = slice.slice(0, slice.lastIndexOf('-'));
  const accountingProperties = ['CPUAccounting', 'MemoryAccounting', 'TasksAccounting'].map(
    (name): UnitProperty => [name, 'b', 'true'],
  );
  return [
    ['Description', 's', `pods (${slice})`],
    ...(slice.includes('-') ? [['Wants', 'as', '1', `${parent}.slice`] as const] : []),
    ['DefaultDependencies', 'b', 'false'],
    ...accountingProperties,
    ...sliceProperties(limits, version),
  ];
}

/**
 * Returns the arguments of `busctl` for these properties, i.e. the number of properties, followed by the name,
 * signature and value of each one.
 */
export function busctlProperties(properties: readonly UnitProperty[]): string[] {
  return [String(properties.length), ...properties.flat()];
}
