/** Parses a cgroup's I/O per device, from `blkio.*` on v1 and `io.stat` on v2. */
import type { DeviceUsage } from './cgroupUsage.ts';

interface MutableDeviceUsage {
  readonly major: number;
  readonly minor: number;
  readonly bytes: Map<string, number>;
  readonly operations: Map<string, number>;
  costMicros?: Map<string, number>;
}

/**
 * Parses two v1 files with lines such as `8:0 Read 4096`. The last line, which contains the sum of all devices, is
 * ignored.
 */
export function parseBlkio(bytes: string, operations: string): readonly DeviceUsage[] {
  const devices = new Map<string, MutableDeviceUsage>();
  for (const [contents, kind] of [[bytes, 'bytes'] as const, [operations, 'operations'] as const]) {
    for (const line of contents.split('\n')) {
      const [, device = '', operation = '', value = ''] = BLKIO_LINE.exec(line) ?? [];
      getOrCreateUsage(devices, device)?.[kind].set(operation, Number(value));
    }
  }
  return [...devices.values()];
}

const BLKIO_LINE = /^(\d+:\d+) (\w+) (\d+)$/;

/** Fields of `io.stat` on v2 and the names of the corresponding operations on v1. */
const IO_STAT_FIELDS: ReadonlyMap<string, readonly ['bytes' | 'operations', string]> = new Map([
  ['rbytes', ['bytes', 'Read']],
  ['wbytes', ['bytes', 'Write']],
  ['rios', ['operations', 'Read']],
  ['wios', ['operations', 'Write']],
]);

/** Fields that a device has in `io.stat` if its I/O cost model is enabled (`block/blk-iocost.c` of Linux). */
const COST_FIELDS: ReadonlySet<string> = new Set(['cost.usage', 'cost.wait', 'cost.indebt', 'cost.indelay']);

/**
 * Parses a v2 file with one line per device, e.g. `8:0 rbytes=4096 wbytes=0 rios=1 wios=0 dbytes=0 dios=0`. Some lines
 * have no fields.
 */
export function parseIoStat(text: string): readonly DeviceUsage[] {
  const devices = new Map<string, MutableDeviceUsage>();
  for (const line of text.split('\n')) {
    const [device = '', ...fields] = line.split(' ');
    for (const field of fields) {
      const [name = '', value = ''] = field.split('=');
      if (!/^\d+$/.test(value)) continue;
      const [kind, operation] = IO_STAT_FIELDS.get(name) ?? [];
      if (kind !== undefined && operation !== undefined)
        getOrCreateUsage(devices, device)?.[kind].set(operation, Number(value));
      else if (COST_FIELDS.has(name)) addCost(getOrCreateUsage(devices, device), name, Number(value));
    }
  }
  return [...devices.values()];
}

function addCost(usage: MutableDeviceUsage | undefined, name: string, micros: number): void {
  if (usage === undefined) return;
  usage.costMicros ??= new Map();
  usage.costMicros.set(name, micros);
}

function getOrCreateUsage(devices: Map<string, MutableDeviceUsage>, device: string): MutableDeviceUsage | undefined {
  const existingUsage = devices.get(device);
  if (existingUsage !== undefined) return existingUsage;
  const [, major, minor] = /^(\d+):(\d+)$/.exec(device) ?? [];
  if (major === undefined) return undefined;
  const newUsage: MutableDeviceUsage = {
    major: Number(major),
    minor: Number(minor),
    bytes: new Map(),
    operations: new Map(),
  };
  devices.set(device, newUsage);
  return newUsage;
}
