/** How the limits of a cgroup are told to the kernel, as files of cgroup v1 or v2, and to systemd, as properties of a slice. */
import type { CgroupLimits } from './cgroupLimits.ts';

/** What the limits of pods are written to. */
export type Controller = 'cpu' | 'memory' | 'pids' | 'hugetlb';

/** One value for one file of a cgroup. */
export interface CgroupFile {
  readonly controller: Controller;
  readonly file: string;
  readonly value: string;
}

type Version = 'v1' | 'v2';

/** The files of one hierarchy, in the order in which they are written; a controller that the host has not is left out. */
export function cgroupFiles(limits: CgroupLimits, versionOf: (controller: Controller) => Version | undefined) {
  const files = (['cpu', 'memory', 'pids', 'hugetlb'] as const).flatMap((controller): CgroupFile[] => {
    const version = versionOf(controller);
    if (version === undefined) return [];
    return WRITERS[version][controller](limits).map(([file, value]) => ({ controller, file, value: String(value) }));
  });
  return files;
}

type Lines = readonly (readonly [file: string, value: string | number])[];

const WRITERS: Record<Version, Record<Controller, (limits: CgroupLimits) => Lines>> = {
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
      Object.entries(hugepages).map(([size, bytes]) => [`hugetlb.${size}.limit_in_bytes`, exact(bytes)] as const),
  },
  v2: {
    cpu: ({ cpuShares, cpu }) => [
      ...(cpuShares === undefined ? [] : [['cpu.weight', cpuWeight(cpuShares)] as const]),
      ...(cpu ? ([['cpu.max', `${cpu.quota < 0 ? 'max' : cpu.quota} ${cpu.period}`]] as const) : []),
    ],
    memory: ({ memoryBytes }) => (memoryBytes === undefined ? [] : [['memory.max', memoryBytes]]),
    pids: ({ pids }) => (pids === undefined ? [] : [['pids.max', pids]]),
    hugetlb: ({ hugepages = {} }) =>
      Object.entries(hugepages).map(([size, bytes]) => [`hugetlb.${size}.max`, exact(bytes)] as const),
  },
};

/** Large numbers are written with all their digits. */
const exact = (bytes: number): string => BigInt(bytes).toString();

/** The cpu.weight (1…10000) of so many cpu.shares (2…262144), in proportion, as the kubelet gives it to its own cgroups. */
export function cpuWeight(shares: number): number {
  return 1 + Math.trunc(((shares - 2) * 9999) / 262_142);
}

/** A property of a systemd unit: its name, the D-Bus signature of its value, the value. */
export type UnitProperty = readonly [name: string, signature: 's' | 'b' | 't' | 'as', ...value: string[]];

const NO_QUOTA = '18446744073709551615';

/** The limits as systemd keeps them; huge pages it knows nothing of. */
export function sliceProperties(limits: CgroupLimits, version: Version): UnitProperty[] {
  const { cpuShares, cpu, memoryBytes, pids } = limits;
  const shares = (each: number): UnitProperty =>
    version === 'v1' ? ['CPUShares', 't', String(each)] : ['CPUWeight', 't', String(cpuWeight(each))];
  return [
    ...(cpuShares === undefined ? [] : [shares(cpuShares)]),
    ...(cpu ? quotaProperties(cpu) : []),
    ...(memoryBytes === undefined
      ? []
      : [[version === 'v1' ? 'MemoryLimit' : 'MemoryMax', 't', String(memoryBytes)] as const]),
    ...(pids === undefined ? [] : [['TasksMax', 't', String(pids)] as const]),
  ];
}

/** systemd counts a quota per second, in steps of 10 ms. */
function quotaProperties({ quota, period }: { quota: number; period: number }): UnitProperty[] {
  const perSecond = Math.ceil((quota * 1_000_000) / period / 10_000) * 10_000;
  return [
    ['CPUQuotaPerSecUSec', 't', quota < 0 ? NO_QUOTA : String(perSecond)],
    ['CPUQuotaPeriodUSec', 't', String(period)],
  ];
}

/** What a new slice is told beside its limits: it is counted, and it ends by nobody's rules but its owner's. */
export function newSliceProperties(slice: string, limits: CgroupLimits, version: Version): UnitProperty[] {
  const above = slice.slice(0, slice.lastIndexOf('-'));
  const accounting = ['CPUAccounting', 'MemoryAccounting', 'TasksAccounting'].map(
    (name): UnitProperty => [name, 'b', 'true'],
  );
  return [
    ['Description', 's', `pods (${slice})`],
    ...(slice.includes('-') ? [['Wants', 'as', '1', `${above}.slice`] as const] : []),
    ['DefaultDependencies', 'b', 'false'],
    ...accounting,
    ...sliceProperties(limits, version),
  ];
}

/** The arguments of `busctl` for a list of properties: their number, then each with its name, signature and value. */
export function busctlProperties(properties: readonly UnitProperty[]): string[] {
  return [String(properties.length), ...properties.flat()];
}
