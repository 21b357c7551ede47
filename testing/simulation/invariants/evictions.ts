/** Invariants for nodes that evict pods. A node without the `eviction` configuration evicts nothing. */

import { isCriticalPod } from '../../../kubernetes/api/pods/staticPod.ts';
import { parseQuantity } from '../../../kubernetes/api/values/quantity.ts';
import type { StarvedResource } from '../../../kubernetes/eviction/signals.ts';
import { HOST_RESOURCES, type HostResource } from '../host/hostResources.ts';
import type { Invariant } from './invariant.ts';

/**
 * Host resources that an eviction message may mean, by the resource in the message, which does not name the file
 * system.
 */
const HOST_RESOURCES_OF: ReadonlyMap<string, readonly HostResource[]> = new Map<
  StarvedResource,
  readonly HostResource[]
>([
  ['memory', ['memory']],
  ['ephemeral-storage', ['disk', 'imageDisk']],
  ['inodes', ['inodes', 'imageInodes']],
  ['pids', ['processes']],
]);

const SIGNAL_OF = {
  memory: 'memory.available',
  disk: 'nodefs.available',
  inodes: 'nodefs.inodesFree',
  imageDisk: 'imagefs.available',
  imageInodes: 'imagefs.inodesFree',
  processes: 'pid.available',
} as const;

const MESSAGE_PATTERN = /^The node was low on resource: (\S+)\. Threshold quantity: (\S+), available: (\S+)\. /;
const NANOS_PER_UNIT = 1_000_000_000;

interface Shortage {
  /** Resources of which at least one must be below the threshold. */
  readonly resources: readonly HostResource[];
  /** Threshold in units of the resource, e.g. bytes. */
  readonly threshold: number;
}

/** Returns the shortage that an eviction message names, or undefined for other messages. */
function shortageIn(message: string): Shortage | undefined {
  const [, name = '', quantity = ''] = MESSAGE_PATTERN.exec(message) ?? [];
  const resources = HOST_RESOURCES_OF.get(name);
  const threshold = parseQuantity(quantity);
  return resources && threshold !== undefined
    ? { resources, threshold: Number(threshold) / NANOS_PER_UNIT }
    : undefined;
}

/** Whether the message is about a rejected pod, whose event has the same reason as an eviction. */
const isRefusal = (message: string): boolean => message.startsWith('The node had condition: ');

export const noCriticalEviction: Invariant = {
  description: 'A critical pod is never evicted.',
  follow: ({ podOf }, violated) => ({
    onEvent: ({ reason, involved, message }) => {
      const pod = reason === 'Evicted' && !isRefusal(message) ? podOf(involved.uid) : undefined;
      if (pod !== undefined && isCriticalPod(pod))
        violated(`${involved.name}, which is critical, is evicted: ${message}`);
    },
  }),
};

export const noNeedlessEviction: Invariant = {
  description: 'No pod is evicted unless the threshold was met since the last eviction.',
  follow: ({ host }, violated) => {
    /** Lowest available amount of each resource since the last eviction. */
    const lowest = new Map<HostResource, number>();
    return {
      onCall: () => {
        for (const resource of HOST_RESOURCES) {
          const available = host.resources.available(resource);
          lowest.set(resource, Math.min(available, lowest.get(resource) ?? available));
        }
      },
      onEvent: ({ reason, involved, message }) => {
        const shortage = reason === 'Evicted' ? shortageIn(message) : undefined;
        if (shortage === undefined) return;
        const { resources, threshold } = shortage;
        const available = Math.min(...resources.map((each) => lowest.get(each) ?? Number.POSITIVE_INFINITY));
        lowest.clear();
        if (available >= threshold) violated(`${involved.name} is evicted with ${available} left: ${message}`);
      },
    };
  },
};

export const noEvictionAfterRelief: Invariant = {
  description: 'No pod is evicted once the last measurement shows that its signal is relieved.',
  follow: ({ host }, violated) => ({
    onEvent: ({ reason, involved, message }) => {
      const shortage = reason === 'Evicted' ? shortageIn(message) : undefined;
      if (shortage === undefined) return;
      const { resources, threshold } = shortage;
      const measured = resources.map((each) => host.resources.lastObservations?.[SIGNAL_OF[each]]?.available);
      if (measured.some((available) => available !== undefined && available < threshold)) return;
      violated(`${involved.name} is evicted although ${measured.join(' and ')} was measured last: ${message}`);
    },
  }),
};

export const evictionInvariants: readonly Invariant[] = [noCriticalEviction, noNeedlessEviction, noEvictionAfterRelief];
