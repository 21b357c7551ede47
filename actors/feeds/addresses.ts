import { canonicalIpOrText } from '../../base/ipAddress.ts';
import type { Clock } from '../../base/time/clock.ts';
import { createAlarm } from '../alarm.ts';
import type { FactFeed } from '../boundary.ts';

/** The node's addresses, starting with the primary one, or a function that returns the current addresses. */
export type HostAddresses = readonly string[] | (() => readonly string[]);

/**
 * Returns the current addresses in canonical form. Throws a `TypeError` if a function returns anything but an array of
 * strings.
 */
export function currentAddresses(addresses: HostAddresses): readonly string[] {
  const now: unknown = typeof addresses === 'function' ? addresses() : addresses;
  if (Array.isArray(now) && now.every((each): each is string => typeof each === 'string'))
    return now.map(canonicalIpOrText);
  throw new TypeError('createNode: hostIps: expected the addresses as an array of strings');
}

/** Interval between checks of the host's addresses, as in the kubelet. */
const CHECK_MS = 10_000;

/**
 * Reports the host's addresses when they differ from the initial or last reported ones (C27). Changes of CPU and memory
 * are not reported, as in the kubelet.
 */
export function createAddressFeed(hostIps: HostAddresses, clock: Clock): FactFeed {
  let lastReportedAddresses = currentAddresses(hostIps);
  return async (send, { signal }) => {
    if (typeof hostIps !== 'function') return;
    const alarm = createAlarm(clock, signal);
    while (!signal.aborted) {
      const hostAddresses = currentAddresses(hostIps);
      if (hostAddresses.join() !== lastReportedAddresses.join())
        send({ type: 'node.factsChanged', hostIps: hostAddresses, at: clock.now() });
      lastReportedAddresses = hostAddresses;
      await alarm.waitUntil(clock.now() + CHECK_MS);
    }
  };
}
