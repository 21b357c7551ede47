/** The feed of changes of the node itself: its addresses. */

import type { Clock } from '../../base/clock.ts';
import { canonicalIpOrText } from '../../base/ipAddress.ts';
import { createAlarm } from '../alarm.ts';
import type { Feed } from '../boundary.ts';

/** The node's addresses, the primary first, either fixed or looked up by a function each time. */
export type HostAddresses = readonly string[] | (() => readonly string[]);

/** The present addresses in canonical form. Throws a `TypeError` if a function returns anything but an array of strings. */
export function addressesNow(addresses: HostAddresses): readonly string[] {
  const now: unknown = typeof addresses === 'function' ? addresses() : addresses;
  if (Array.isArray(now) && now.every((each): each is string => typeof each === 'string'))
    return now.map(canonicalIpOrText);
  throw new TypeError('createNode: hostIps: expected the addresses as an array of strings');
}

/** As often as a kubelet looks. */
const LOOK_MS = 10_000;

/**
 * The feed that looks at the host's addresses every 10 s and tells when they are others than those that the node was
 * made with, or that it told last (C27). As in a kubelet cpu and memory are those that the host had at the start.
 */
export function addressesFeed(hostIps: HostAddresses, clock: Clock): Feed {
  let known = addressesNow(hostIps);
  return async (send, { signal }) => {
    if (typeof hostIps !== 'function') return;
    const alarm = createAlarm(clock, signal);
    while (!signal.aborted) {
      const found = addressesNow(hostIps);
      if (found.join() !== known.join()) send({ type: 'node.factsChanged', hostIps: found, at: clock.now() });
      known = found;
      await alarm.wait(clock.now() + LOOK_MS);
    }
  };
}
