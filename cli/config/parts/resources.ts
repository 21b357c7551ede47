import * as z from 'zod/mini';
import { parseQuantity } from '../../../pod/quantity.ts';
import { boolean, duration, fraction, list, map, oneOf, section, text, whole } from '../fields.ts';

const quantity = z.custom<string | number>((value) => typeof value === 'string' || typeof value === 'number', {
  error: 'expected a quantity such as "1Gi"',
});

/** What can be kept from the pods, each an amount of at least 0. */
const reserved = section(
  Object.fromEntries(
    ['cpu', 'memory', 'ephemeral-storage', 'pid'].map((resource) => [
      resource,
      z.optional(
        z.custom<string>((value) => typeof value === 'string' && (parseQuantity(value) ?? -1n) >= 0n, {
          error: 'expected a quantity such as "100m" or "1Gi"',
        }),
      ),
    ]),
  ),
  'resource',
);

const enforcement = oneOf(
  'none',
  'pods',
  'system-reserved',
  'system-reserved-compressible',
  'kube-reserved',
  'kube-reserved-compressible',
);

/** How much of the node pods may use, and how it is shared out. */
export const resources = {
  maxPods: z.optional(whole()),
  podsPerCore: z.optional(whole()),
  maxOpenFiles: z.optional(whole(0, Number.MAX_SAFE_INTEGER)),
  oomScoreAdj: z.optional(whole(-1000, 1000)),
  protectKernelDefaults: z.optional(boolean),
  cpuManagerPolicy: z.optional(oneOf('', 'none', 'static')),
  cpuManagerPolicyOptions: z.optional(map(text)),
  cpuManagerReconcilePeriod: z.optional(duration()),
  draManagerReconcilePeriod: z.optional(duration()),
  memoryManagerPolicy: z.optional(oneOf('', 'None', 'Static')),
  memoryThrottlingFactor: z.optional(fraction(0, 1)),
  memoryReservationPolicy: z.optional(oneOf('', 'None', 'TieredReservation')),
  topologyManagerPolicy: z.optional(oneOf('', 'none', 'best-effort', 'restricted', 'single-numa-node')),
  topologyManagerScope: z.optional(oneOf('', 'container', 'pod')),
  topologyManagerPolicyOptions: z.optional(map(text)),
  qosReserved: z.optional(map(text)),
  systemReserved: z.optional(reserved),
  kubeReserved: z.optional(reserved),
  reservedSystemCPUs: z.optional(text),
  reservedMemory: z.optional(list(section({ numaNode: whole(), limits: map(quantity) }))),
  systemReservedCgroup: z.optional(text),
  kubeReservedCgroup: z.optional(text),
  enforceNodeAllocatable: z.optional(list(enforcement)),
  localStorageCapacityIsolation: z.optional(boolean),
};
