import { isIPv4 } from 'node:net';
import type { NetworkInterfaceInfo } from 'node:os';
import { lookUp } from '../pod/lookUp.ts';

/**
 * The host's own addresses, one of each family, IPv4 first: those of the interface that leads out where there is one.
 * `routes` is the text of /proc/net/route.
 */
export function hostAddresses(
  interfaces: Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>,
  routes: string,
): string[] {
  const uplink = /^(\S+)\t00000000\t/m.exec(routes)?.[1];
  const names = Object.keys(interfaces).sort((a, b) => Number(b === uplink) - Number(a === uplink));
  const usable = names
    .flatMap((name) => lookUp(interfaces, name) ?? [])
    .filter(({ internal, address }) => !internal && !address.startsWith('fe80:'))
    .map(({ address }) => address);
  const first = [usable.find((address) => isIPv4(address)), usable.find((address) => !isIPv4(address))];
  const found = first.filter((address) => address !== undefined);
  return found.length > 0 ? found : ['127.0.0.1'];
}
