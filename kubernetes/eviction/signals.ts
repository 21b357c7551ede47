/** Eviction signals, i.e. the quantities of a node that can run low (`pkg/kubelet/eviction/api/types.go`). */

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

/** A resource that runs low, by the name that messages and annotations contain. */
export type StarvedResource = 'memory' | 'ephemeral-storage' | 'inodes' | 'pids';

interface SignalInfo {
  readonly condition: PressureCondition;
  readonly resource: StarvedResource;
}

const MEMORY: SignalInfo = { condition: 'MemoryPressure', resource: 'memory' };
const DISK: SignalInfo = { condition: 'DiskPressure', resource: 'ephemeral-storage' };
const INODES: SignalInfo = { condition: 'DiskPressure', resource: 'inodes' };

const SIGNAL_INFO: Readonly<Record<Signal, SignalInfo>> = {
  'memory.available': MEMORY,
  'allocatableMemory.available': MEMORY,
  'nodefs.available': DISK,
  'nodefs.inodesFree': INODES,
  'imagefs.available': DISK,
  'imagefs.inodesFree': INODES,
  'containerfs.available': DISK,
  'containerfs.inodesFree': INODES,
  'pid.available': { condition: 'PIDPressure', resource: 'pids' },
};

export const isSignal = (text: string): text is Signal => SIGNALS.some((each) => each === text);

/** Returns the node condition that reports a shortage of the signal. */
export const conditionOf = (signal: Signal): PressureCondition => SIGNAL_INFO[signal].condition;

export const resourceOf = (signal: Signal): StarvedResource => SIGNAL_INFO[signal].resource;

/** The conditions in the order in which messages list them. */
export const PRESSURE_TYPES: readonly PressureCondition[] = ['MemoryPressure', 'DiskPressure', 'PIDPressure'];
