import * as z from 'zod/mini';
import { parseQuantity } from '../../../kubernetes/api/quantity.ts';
import { boolean, duration, fraction, list, map, oneOf, quantity, section, text, textLike, whole } from '../fields.ts';

/** Number of pods that a node admits if it is not configured. */
export const DEFAULT_MAX_PODS = 110;

/** CPUs by number: `0-3,8`. */
const cpus = textLike(
  'CPUs such as "0-3,8"',
  (set) =>
    set === '' ||
    set.split(',').every((part) => {
      const [, first, last = first] = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(part.trim()) ?? [];
      return first !== undefined && Number(first) <= Number(last);
    }),
);
const percentage = textLike(
  'a percentage such as "50%"',
  (text) => /^\d{1,3}%$/.test(text) && Number.parseInt(text, 10) <= 100,
);
const amount = quantity('a quantity that is not 0, such as "1Gi"', (nanos) => nanos !== 0n);
/** Memory of a NUMA node, and huge pages by their size. */
const reservedLimits = z.record(
  textLike('"memory" or "hugepages-SIZE"', (name) => name === 'memory' || /^hugepages-./.test(name)),
  amount,
  { error: 'expected a map of "memory" and "hugepages-SIZE" to quantities' },
);

/** Resources that can be reserved, each with an amount of at least 0. */
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

/** Fields for the resources that pods may use. */
export const resources = () => ({
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
  qosReserved: z.optional(section({ memory: z.optional(percentage) }, 'resource')),
  systemReserved: z.optional(reserved),
  kubeReserved: z.optional(reserved),
  reservedSystemCPUs: z.optional(cpus),
  reservedMemory: z.optional(list(section({ numaNode: whole(), limits: reservedLimits }))),
  systemReservedCgroup: z.optional(text),
  kubeReservedCgroup: z.optional(text),
  enforceNodeAllocatable: z.optional(list(enforcement)),
  localStorageCapacityIsolation: z.optional(boolean),
});
