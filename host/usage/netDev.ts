/** What has gone through the interfaces of a network, as `/proc/<pid>/net/dev` tells it of the network of a process. */

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
 * The prefixes of interfaces that are the other ends of those of pods, or lead nowhere (cAdvisor's `libcontainer/handler.go`;
 * the last are those of a private containerd).
 */
const PASSED_OVER = ['lo', 'veth', 'docker', 'nerdctl', 'statelet'];
/** Bytes, packets, errors, dropped, fifo, frame, compressed, multicast; then the same of what was sent. */
const COLUMNS = 16;
const SENT = 8;

/** Reads the text of such a file; what is no line of an interface is left out. */
export function parseNetDev(text: string): InterfaceUsage[] {
  return text.split('\n').flatMap((line) => {
    const [, name, rest = ''] = /^\s*(\S+?):\s*(.*)$/.exec(line) ?? [];
    if (name === undefined || PASSED_OVER.some((prefix) => name.toLowerCase().startsWith(prefix))) return [];
    const values = rest.trim().split(/\s+/).map(Number);
    if (values.length < COLUMNS || values.some(Number.isNaN)) return [];
    const [rxBytes = 0, rxPackets = 0, rxErrors = 0, rxDropped = 0] = values;
    const [txBytes = 0, txPackets = 0, txErrors = 0, txDropped = 0] = values.slice(SENT);
    return [{ name, rxBytes, rxPackets, rxErrors, rxDropped, txBytes, txPackets, txErrors, txDropped }];
  });
}
