import * as z from 'zod/mini';
import { parseQuantity } from '../../../kubernetes/api/quantity.ts';
import { boolean, duration, fraction, list, map, oneOf, quantity, section, text, textLike, whole } from '../fields.ts';
import { type Rule, rule } from './rule.ts';
import { declareSettings, type FieldsOf } from './setting.ts';

/** Settings of the pods' cgroups. */
const cgroups = () =>
  declareSettings({
    cgroupRoot: { type: text, effect: "where the pods' cgroups lie", missingFlag: '--cgroup-root' },
    cgroupDriver: {
      type: oneOf('', 'cgroupfs', 'systemd'),
      default: 'cgroupfs',
      effect: "`cgroupfs` or `systemd`; the runtime's own where it reports one",
      missingFlag: '--cgroup-driver',
    },
    cgroupsPerQOS: {
      type: boolean,
      default: true,
      keepsZero: true,
      effect: 'whether pods have cgroups of their own, below those of their QoS class ({default})',
      missingFlag: '--cgroups-per-qos',
    },
    systemCgroups: {
      type: text,
      ignored: 'processes outside of pods are not moved',
      missingFlag: '--system-cgroups',
    },
  });

/** Schema of reserved resources, each with an amount of at least 0. */
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

/** Schema of a list of CPU numbers, e.g. `0-3,8`. */
const cpus = textLike(
  'CPUs such as "0-3,8"',
  (set) =>
    set === '' ||
    set.split(',').every((part) => {
      const [, first, last = first] = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(part.trim()) ?? [];
      return first !== undefined && Number(first) <= Number(last);
    }),
);

/** Settings of the resources that are reserved and not available to pods. */
const reservations = () =>
  declareSettings({
    kubeReserved: {
      type: reserved,
      effect: 'resources kept from pods: `cpu`, `memory`, `ephemeral-storage`, `pid`',
      missingFlag: '--kube-reserved',
    },
    systemReserved: { type: reserved, effect: 'the same', missingFlag: '--system-reserved' },
    enforceNodeAllocatable: {
      type: list(enforcement),
      default: ['pods'],
      effect: '`pods`: the limit of all pods together; `none`',
      missingFlag: '--enforce-node-allocatable',
    },
    systemReservedCgroup: {
      type: text,
      ignored: 'only the limit of all pods together is enforced',
      missingFlag: '--system-reserved-cgroup',
    },
    kubeReservedCgroup: {
      type: text,
      ignored: 'only the limit of all pods together is enforced',
      missingFlag: '--kube-reserved-cgroup',
    },
    reservedSystemCPUs: {
      type: cpus,
      ignored: 'CPUs are reserved by amount, not by number',
      missingFlag: '--reserved-cpus',
    },
    localStorageCapacityIsolation: {
      type: boolean,
      default: true,
      keepsZero: true,
      ignored: 'ephemeral-storage is always a resource of the node',
      missingFlag: '--local-storage-capacity-isolation',
    },
  });

const percentage = textLike(
  'a percentage such as "50%"',
  (share) => /^\d{1,3}%$/.test(share) && Number.parseInt(share, 10) <= 100,
);
const amount = quantity('a quantity that is not 0, such as "1Gi"', (nanos) => nanos !== 0n);
/** Schema of the reserved memory of a NUMA node, including huge pages by size. */
const reservedLimits = z.record(
  textLike('"memory" or "hugepages-SIZE"', (name) => name === 'memory' || /^hugepages-./.test(name)),
  amount,
  { error: 'expected a map of "memory" and "hugepages-SIZE" to quantities' },
);

const NO_CPU_MANAGER = 'there is no CPU manager yet';
const NO_MEMORY_MANAGER = 'there is no memory manager yet';
const NO_TOPOLOGY_MANAGER = 'there is no topology manager yet';

/** Settings of the managers that assign CPUs, memory and devices to containers. */
const managers = () =>
  declareSettings({
    cpuManagerPolicy: {
      type: oneOf('', 'none', 'static'),
      default: 'none',
      ignored: NO_CPU_MANAGER,
      missingFlag: '--cpu-manager-policy',
    },
    cpuManagerPolicyOptions: {
      type: map(text),
      ignored: NO_CPU_MANAGER,
      missingFlag: '--cpu-manager-policy-options',
    },
    cpuManagerReconcilePeriod: {
      type: duration(),
      default: '10s',
      ignored: NO_CPU_MANAGER,
      missingFlag: '--cpu-manager-reconcile-period',
    },
    draManagerReconcilePeriod: { type: duration(), ignored: 'there are no resource claims yet' },
    memoryManagerPolicy: {
      type: oneOf('', 'None', 'Static'),
      default: 'None',
      ignored: NO_MEMORY_MANAGER,
      missingFlag: '--memory-manager-policy',
    },
    reservedMemory: {
      type: list(section({ numaNode: whole(), limits: reservedLimits })),
      ignored: NO_MEMORY_MANAGER,
      missingFlag: '--reserved-memory',
    },
    memoryThrottlingFactor: {
      type: fraction(0, 1),
      default: 0.9,
      keepsZero: true,
      ignored: 'the feature gate MemoryQoS has no effect yet',
    },
    memoryReservationPolicy: {
      type: oneOf('', 'None', 'TieredReservation'),
      default: 'None',
      ignored: 'the feature gate MemoryQoS has no effect yet',
    },
    topologyManagerPolicy: {
      type: oneOf('', 'none', 'best-effort', 'restricted', 'single-numa-node'),
      default: 'none',
      ignored: NO_TOPOLOGY_MANAGER,
      missingFlag: '--topology-manager-policy',
    },
    topologyManagerScope: {
      type: oneOf('', 'container', 'pod'),
      default: 'container',
      ignored: NO_TOPOLOGY_MANAGER,
      missingFlag: '--topology-manager-scope',
    },
    topologyManagerPolicyOptions: {
      type: map(text),
      ignored: NO_TOPOLOGY_MANAGER,
      missingFlag: '--topology-manager-policy-options',
    },
    qosReserved: {
      type: section({ memory: z.optional(percentage) }, 'resource'),
      ignored: 'the feature gate QOSReserved has no effect yet',
      missingFlag: '--qos-reserved',
    },
  });

/** Settings of the pods' cgroups and of the resources that pods may use. */
export const resourceSettings = () => ({ ...cgroups(), ...reservations(), ...managers() });

type ResourceFields = FieldsOf<ReturnType<typeof resourceSettings>>;

const enforces = ({ enforceNodeAllocatable = [] }: ResourceFields, ...names: readonly string[]): boolean =>
  enforceNodeAllocatable.some((each) => names.includes(each));

const enforcesBoth = (config: ResourceFields, name: string): boolean =>
  enforces(config, name) && enforces(config, `${name}-compressible`);

const at = 'enforceNodeAllocatable';

export const resourceRules: readonly Rule<ResourceFields>[] = [
  rule(at, 'needs cgroupsPerQOS', (config) => {
    return config.cgroupsPerQOS !== false || (config.enforceNodeAllocatable ?? []).every((each) => each === 'none');
  }),
  rule(at, 'must have nothing beside "none"', (config) => {
    return !enforces(config, 'none') || (config.enforceNodeAllocatable ?? []).length === 1;
  }),
  rule(at, 'must not name anything twice', ({ enforceNodeAllocatable = [] }) => {
    return new Set(enforceNodeAllocatable).size === enforceNodeAllocatable.length;
  }),
  rule(at, 'must not have both "system-reserved" and "system-reserved-compressible"', (config) => {
    return !enforcesBoth(config, 'system-reserved');
  }),
  rule(at, 'must not have both "kube-reserved" and "kube-reserved-compressible"', (config) => {
    return !enforcesBoth(config, 'kube-reserved');
  }),
  rule('systemReservedCgroup', 'is required by "system-reserved" in enforceNodeAllocatable', (config) => {
    return !enforces(config, 'system-reserved', 'system-reserved-compressible') || Boolean(config.systemReservedCgroup);
  }),
  rule('kubeReservedCgroup', 'is required by "kube-reserved" in enforceNodeAllocatable', (config) => {
    return !enforces(config, 'kube-reserved', 'kube-reserved-compressible') || Boolean(config.kubeReservedCgroup);
  }),
  rule('reservedSystemCPUs', 'cannot be used with systemReservedCgroup or kubeReservedCgroup', (config) => {
    return !config.reservedSystemCPUs || !(config.systemReservedCgroup || config.kubeReservedCgroup);
  }),
  rule('reservedMemory', 'must not name a resource of a NUMA node twice', ({ reservedMemory = [] }) => {
    const names = reservedMemory.flatMap(({ numaNode, limits }) =>
      Object.keys(limits).map((each) => `${numaNode}/${each}`),
    );
    return new Set(names).size === names.length;
  }),
  rule('systemCgroups', 'needs cgroupRoot', (config) => !config.systemCgroups || Boolean(config.cgroupRoot)),
];
