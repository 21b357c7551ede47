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
 * Prefixes of interfaces that are the host ends of pod interfaces or not connected to a network (cAdvisor's
 * `libcontainer/handler.go`). The last prefix is that of a private containerd's interfaces.
 */
const IGNORED_PREFIXES = ['lo', 'veth', 'docker', 'nerdctl', 'statelet'];
/**
 * Columns for received data: bytes, packets, errors, dropped, fifo, frame, compressed, multicast. The same columns for
 * sent data follow.
 */
const COLUMN_COUNT = 16;
const SENT_COLUMN_OFFSET = 8;

/** Parses the contents of such a file. Lines without an interface are ignored. */
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
