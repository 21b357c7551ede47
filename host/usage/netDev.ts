/** Parses the network usage of a process's network namespace from `/proc/<pid>/net/dev`. */

export interface InterfaceUsage {
  readonly name: string;
  readonly rxBytes: number;
  readonly rxPackets: number;
  readonly rxErrors: number;
  readonly rxDropped: number;
  readonly txBytes: number;
  readonly txPackets: number;
  readonly txErrors: number;
  readonly txDropped: number;
}

/**
 * Prefixes of ignored interfaces, which are not connected to a network or are the host ends of pod interfaces
 * (cAdvisor's `libcontainer/handler.go`). The last prefix belongs to the interfaces of a private containerd.
 */
const IGNORED_PREFIXES = ['lo', 'veth', 'docker', 'nerdctl', 'statelet'];
/**
 * Number of columns per interface. The first eight are for received data: bytes, packets, errors, dropped, fifo, frame,
 * compressed, multicast. The other eight are for sent data.
 */
const COLUMN_COUNT = 16;
const SENT_COLUMN_OFFSET = 8;

/** Parses the contents of `/proc/<pid>/net/dev`. Omits ignored interfaces and invalid lines. */
export function parseNetDev(text: string): InterfaceUsage[] {
  return text.split('\n').flatMap((line) => {
    const [, name, rest = ''] = /^\s*(\S+?):\s*(.*)$/.exec(line) ?? [];
    if (name === undefined || IGNORED_PREFIXES.some((prefix) => name.toLowerCase().startsWith(prefix))) return [];
    const columnValues = rest.trim().split(/\s+/).map(Number);
    if (columnValues.length < COLUMN_COUNT || columnValues.some(Number.isNaN)) return [];
    const [rxBytes = 0, rxPackets = 0, rxErrors = 0, rxDropped = 0] = columnValues;
    const [txBytes = 0, txPackets = 0, txErrors = 0, txDropped = 0] = columnValues.slice(SENT_COLUMN_OFFSET);
    return [{ name, rxBytes, rxPackets, rxErrors, rxDropped, txBytes, txPackets, txErrors, txDropped }];
  });
}
