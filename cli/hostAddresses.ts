import { readFileSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os';
import type { Clock } from '../actors/clock.ts';
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
  return found.length > 0 ? found : LOOPBACK;
}

/** Of a host without a network. */
const LOOPBACK = ['127.0.0.1'];

/** As often as a kubelet looks. */
const LOOK_AGAIN_MS = 10_000;

/** The host's addresses as they are, looked up again when that was some time ago; the same list as long as they are the same. */
export function followedAddresses(
  clock: Pick<Clock, 'now'>,
  first: readonly string[],
  look: () => readonly string[] = presentAddresses,
): () => readonly string[] {
  let known = first;
  let lookedAt = clock.now();
  return () => {
    if (clock.now() - lookedAt < LOOK_AGAIN_MS) return known;
    lookedAt = clock.now();
    const found = look();
    // A host that is off its network for a moment keeps those that it had, as on a kubelet.
    if (found.join() !== LOOPBACK.join() && found.join() !== known.join()) known = found;
    return known;
  };
}

/** The kernel answers both at once. */
function presentAddresses(): readonly string[] {
  try {
    return hostAddresses(networkInterfaces(), readFileSync('/proc/net/route', 'utf8'));
  } catch {
    return LOOPBACK;
  }
}
