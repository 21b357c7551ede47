/** Eviction signals, i.e. the resources of a node that can run low (`pkg/kubelet/eviction/api/types.go`). */

export const SIGNALS = [
  'memory.available',
  'allocatableMemory.available',
  'nodefs.available',
  'nodefs.inodesFree',
  'imagefs.available',
  'imagefs.inodesFree',
  'containerfs.available',
  'containerfs.inodesFree',
  'pid.available',
] as const;

export type Signal = (typeof SIGNALS)[number];

export type PressureCondition = 'MemoryPressure' | 'DiskPressure' | 'PIDPressure';

/** Name of a scarce resource, as used in messages and annotations. */
export type StarvedResource = 'memory' | 'ephemeral-storage' | 'inodes' | 'pids';

interface SignalInfo {
  readonly condition: PressureCondition;
  readonly resource: StarvedResource;
}

const MEMORY_INFO: SignalInfo = { condition: 'MemoryPressure', resource: 'memory' };
const DISK_INFO: SignalInfo = { condition: 'DiskPressure', resource: 'ephemeral-storage' };
const INODES_INFO: SignalInfo = { condition: 'DiskPressure', resource: 'inodes' };

const SIGNAL_INFO: Readonly<Record<Signal, SignalInfo>> = {
  'memory.available': MEMORY_INFO,
  'allocatableMemory.available': MEMORY_INFO,
  'nodefs.available': DISK_INFO,
  'nodefs.inodesFree': INODES_INFO,
  'imagefs.available': DISK_INFO,
  'imagefs.inodesFree': INODES_INFO,
  'containerfs.available': DISK_INFO,
  'containerfs.inodesFree': INODES_INFO,
  'pid.available': { condition: 'PIDPressure', resource: 'pids' },
};

export const isSignal = (text: string): text is Signal => SIGNALS.some((each) => each === text);

/** Returns the node condition that reports a shortage of the signal's resource. */
export const conditionOf = (signal: Signal): PressureCondition => SIGNAL_INFO[signal].condition;

export const resourceOf = (signal: Signal): StarvedResource => SIGNAL_INFO[signal].resource;

/** The conditions in the order in which messages list them. */
export const PRESSURE_TYPES: readonly PressureCondition[] = ['MemoryPressure', 'DiskPressure', 'PIDPressure'];
