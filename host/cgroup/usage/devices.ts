/** What a cgroup has read and written, by device: `blkio.*` on v1, `io.stat` on v2. */
import type { DeviceUsage } from './cgroupUsage.ts';

interface Counted {
  readonly major: number;
  readonly minor: number;
  readonly bytes: Map<string, number>;
  readonly operations: Map<string, number>;
}

/** On v1: two files of lines such as `8:0 Read 4096`; a last line has the sum of all devices. */
export function parseBlkio(bytes: string, operations: string): readonly DeviceUsage[] {
  const devices = new Map<string, Counted>();
  for (const [text, kind] of [[bytes, 'bytes'] as const, [operations, 'operations'] as const]) {
    for (const line of text.split('\n')) {
      const [, device = '', operation = '', value = ''] = BLKIO.exec(line) ?? [];
      countedOf(devices, device)?.[kind].set(operation, Number(value));
    }
  }
  return [...devices.values()];
}

const BLKIO = /^(\d+:\d+) (\w+) (\d+)$/;

/** How v2 names what v1 has in two files. */
const IO_STAT: ReadonlyMap<string, readonly ['bytes' | 'operations', string]> = new Map([
  ['rbytes', ['bytes', 'Read']],
  ['wbytes', ['bytes', 'Write']],
  ['rios', ['operations', 'Read']],
  ['wios', ['operations', 'Write']],
]);

/** On v2: a line for each device, `8:0 rbytes=4096 wbytes=0 rios=1 wios=0 dbytes=0 dios=0`; some have nothing after it. */
export function parseIoStat(text: string): readonly DeviceUsage[] {
  const devices = new Map<string, Counted>();
  for (const line of text.split('\n')) {
    const [device = '', ...fields] = line.split(' ');
    for (const field of fields) {
      const [name = '', value = ''] = field.split('=');
      const [kind, operation] = IO_STAT.get(name) ?? [];
      if (kind !== undefined && operation !== undefined && /^\d+$/.test(value)) {
        countedOf(devices, device)?.[kind].set(operation, Number(value));
      }
    }
  }
  return [...devices.values()];
}

function countedOf(devices: Map<string, Counted>, device: string): Counted | undefined {
  const known = devices.get(device);
  if (known !== undefined) return known;
  const [, major, minor] = /^(\d+):(\d+)$/.exec(device) ?? [];
  if (major === undefined) return undefined;
  const made = { major: Number(major), minor: Number(minor), bytes: new Map(), operations: new Map() };
  devices.set(device, made);
  return made;
}
