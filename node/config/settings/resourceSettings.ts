import * as z from 'zod/mini';
import { parseQuantity } from '../../../kubernetes/api/values/quantity.ts';
import {
  booleanSchema,
  durationSchema,
  enumSchema,
  fractionSchema,
  integerSchema,
  listSchema,
  mapSchema,
  matchingStringSchema,
  quantitySchema,
  sectionSchema,
  stringSchema,
} from '../fields/fields.ts';
import { type ConfigRule, createRule } from './rule.ts';
import { declareSettings, type FieldsOf } from './setting.ts';

const cgroupSettings = () =>
  declareSettings({
    cgroupRoot: { type: stringSchema, effect: 'the parent cgroup of all pods', unsupportedFlag: '--cgroup-root' },
    cgroupDriver: {
      type: enumSchema('', 'cgroupfs', 'systemd'),
      default: 'cgroupfs',
      effect: '`cgroupfs` or `systemd`, unless the runtime reports its driver',
      unsupportedFlag: '--cgroup-driver',
    },
    cgroupsPerQOS: {
      type: booleanSchema,
      default: true,
      allowsZeroValue: true,
      effect: 'whether pods have their own cgroups below those of the QoS classes ({default})',
      unsupportedFlag: '--cgroups-per-qos',
    },
    systemCgroups: {
      type: stringSchema,
      ignoredReason: 'processes outside of pods are not moved',
      unsupportedFlag: '--system-cgroups',
    },
  });

/** Schema of reserved resources, each with an amount of at least 0. */
const reservedSchema = sectionSchema(
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

const enforcementSchema = enumSchema(
  'none',
  'pods',
  'system-reserved',
  'system-reserved-compressible',
  'kube-reserved',
  'kube-reserved-compressible',
);

/** Schema of a list of CPU numbers, e.g. `0-3,8`. */
const cpuListSchema = matchingStringSchema(
  'CPUs such as "0-3,8"',
  (set) =>
    set === '' ||
    set.split(',').every((part) => {
      const [, first, last = first] = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(part.trim()) ?? [];
      return first !== undefined && Number(first) <= Number(last);
    }),
);

/** Settings of the resources that are reserved and not available to pods. */
const reservationSettings = () =>
  declareSettings({
    kubeReserved: {
      type: reservedSchema,
      effect: 'resources reserved for Kubernetes components: `cpu`, `memory`, `ephemeral-storage`, `pid`',
      unsupportedFlag: '--kube-reserved',
    },
    systemReserved: {
      type: reservedSchema,
      effect: 'resources reserved for system daemons, likewise',
      unsupportedFlag: '--system-reserved',
    },
    enforceNodeAllocatable: {
      type: listSchema(enforcementSchema),
      default: ['pods'],
      effect:
        '`pods` limits all pods together to the allocatable resources. `system-reserved` and `kube-reserved` limit the existing `systemReservedCgroup` and `kubeReservedCgroup` to the reserved CPU, memory and processes, and with the suffix `-compressible` to the CPU alone. `none` disables all limits',
      unsupportedFlag: '--enforce-node-allocatable',
    },
    systemReservedCgroup: {
      type: stringSchema,
      effect: 'the cgroup of the system daemons; it must exist if `system-reserved` is enforced',
      unsupportedFlag: '--system-reserved-cgroup',
    },
    kubeReservedCgroup: {
      type: stringSchema,
      effect: 'the cgroup of the Kubernetes daemons; it must exist if `kube-reserved` is enforced',
      unsupportedFlag: '--kube-reserved-cgroup',
    },
    reservedSystemCPUs: {
      type: cpuListSchema,
      effect: 'CPUs that no container gets exclusively, e.g. `0-3,8`; they replace the reserved amounts of CPU',
      unsupportedFlag: '--reserved-cpus',
    },
    localStorageCapacityIsolation: {
      type: booleanSchema,
      default: true,
      allowsZeroValue: true,
      effect:
        'whether pods are evicted that exceed their limits of `ephemeral-storage` or the `sizeLimit` of an emptyDir; `ephemeral-storage` is a resource of the node in either case',
      unsupportedFlag: '--local-storage-capacity-isolation',
    },
  });

const percentageSchema = matchingStringSchema(
  'a percentage such as "50%"',
  (share) => /^\d{1,3}%$/.test(share) && Number.parseInt(share, 10) <= 100,
);
const amountSchema = quantitySchema('a quantity that is not 0, such as "1Gi"', (nanos) => nanos !== 0n);
/** Schema of the reserved memory of a NUMA node, including huge pages by size. */
const reservedLimitsSchema = z.record(
  matchingStringSchema('"memory" or "hugepages-SIZE"', (name) => name === 'memory' || /^hugepages-./.test(name)),
  amountSchema,
  { error: 'expected a map of "memory" and "hugepages-SIZE" to quantities' },
);

const reservedMemorySchema = listSchema(sectionSchema({ numaNode: integerSchema(), limits: reservedLimitsSchema }));

/**
 * Schema of `--reserved-memory`, e.g. `0:memory=1Gi,hugepages-2Mi=64Mi;1:memory=1Gi` (`ReservedMemoryVar` in
 * `pkg/util/flag`).
 */
const reservedMemoryFlagSchema = z.pipe(
  matchingStringSchema('amounts by NUMA node such as "0:memory=1Gi,hugepages-2Mi=64Mi;1:memory=1Gi"', (text) =>
    /^(\d+:[^:;,=]+=[^:;,=]+(,[^:;,=]+=[^:;,=]+)*(;(?=.)|$))+$/.test(text),
  ),
  z.pipe(
    z.transform((text: string) =>
      text.split(';').map((reservation) => {
        const [numaNode = '', limits = ''] = reservation.split(':');
        return {
          numaNode: Number(numaNode),
          limits: Object.fromEntries(limits.split(',').map((limit) => limit.split('='))),
        };
      }),
    ),
    reservedMemorySchema,
  ),
);

/** Settings of the managers that assign CPUs, memory and devices to containers. */
const managerSettings = () =>
  declareSettings({
    cpuManagerPolicy: {
      type: enumSchema('', 'none', 'static'),
      default: 'none',
      effect: '`static` gives containers of Guaranteed pods that request whole CPUs exclusive ones ({default})',
      unsupportedFlag: '--cpu-manager-policy',
    },
    cpuManagerPolicyOptions: {
      type: mapSchema(stringSchema),
      effect: 'options of the static policy, e.g. `full-pcpus-only: "true"`',
      unsupportedFlag: '--cpu-manager-policy-options',
    },
    cpuManagerReconcilePeriod: {
      type: durationSchema(),
      default: '10s',
      effect: 'interval at which the CPUs of running containers are checked ({default})',
      unsupportedFlag: '--cpu-manager-reconcile-period',
    },
    draManagerReconcilePeriod: { type: durationSchema(), ignoredReason: 'there are no resource claims yet' },
    memoryManagerPolicy: {
      type: enumSchema('', 'None', 'Static'),
      default: 'None',
      effect: '`Static` gives containers of Guaranteed pods memory and huge pages of NUMA nodes ({default})',
      flag: {
        name: '--memory-manager-policy',
        argument: '<policy>',
        help: 'Static gives containers of Guaranteed pods memory of NUMA nodes (default: {default})',
      },
    },
    reservedMemory: {
      type: reservedMemorySchema,
      effect:
        'memory and huge pages that the policy `Static` gives to no container, by NUMA node; must add up to `kubeReserved`, `systemReserved` and the hard eviction threshold',
      flag: {
        name: '--reserved-memory',
        argument: '<amounts>',
        type: reservedMemoryFlagSchema,
        help: 'memory of NUMA nodes that no container gets, e.g. 0:memory=1Gi;1:memory=2Gi',
      },
    },
    memoryThrottlingFactor: {
      type: fractionSchema(0, 1),
      default: 0.9,
      allowsZeroValue: true,
      effect:
        'with the feature gate MemoryQoS on cgroup v2, the fraction of the memory between request and limit above which a container is throttled ({default})',
    },
    memoryReservationPolicy: {
      type: enumSchema('', 'None', 'TieredReservation'),
      default: 'None',
      effect:
        'with the feature gate MemoryQoS on cgroup v2, `TieredReservation` protects requested memory from reclaim: always for Guaranteed pods, and as far as possible for Burstable pods',
    },
    topologyManagerPolicy: {
      type: enumSchema('', 'none', 'best-effort', 'restricted', 'single-numa-node'),
      default: 'none',
      effect:
        'whether the devices, the exclusive CPUs and the memory of a container must be on the same NUMA nodes ({default})',
      unsupportedFlag: '--topology-manager-policy',
    },
    topologyManagerScope: {
      type: enumSchema('', 'container', 'pod'),
      default: 'container',
      effect: '`pod` chooses the NUMA nodes for all containers of a pod together ({default})',
      unsupportedFlag: '--topology-manager-scope',
    },
    topologyManagerPolicyOptions: {
      type: mapSchema(stringSchema),
      effect: 'options of the topology policy: `prefer-closest-numa-nodes`, `max-allowable-numa-nodes`',
      unsupportedFlag: '--topology-manager-policy-options',
    },
    qosReserved: {
      type: sectionSchema({ memory: z.optional(percentageSchema) }, 'resource'),
      ignoredReason:
        'the feature gate QOSReserved (alpha since 1.11) has no effect, because on cgroup v2 it would let the limit of a QoS class fall below the usage, and the kernel would kill containers',
      unsupportedFlag: '--qos-reserved',
    },
  });

/** Settings of the pods' cgroups and of the resources that pods may use. */
export const resourceSettings = () => ({ ...cgroupSettings(), ...reservationSettings(), ...managerSettings() });

type ResourceFields = FieldsOf<ReturnType<typeof resourceSettings>>;

const isEnforced = ({ enforceNodeAllocatable = [] }: ResourceFields, ...names: readonly string[]): boolean =>
  enforceNodeAllocatable.some((each) => names.includes(each));

const enforcesBoth = (config: ResourceFields, name: string): boolean =>
  isEnforced(config, name) && isEnforced(config, `${name}-compressible`);

const RULE_FIELD = 'enforceNodeAllocatable';

export const resourceRules: readonly ConfigRule<ResourceFields>[] = [
  createRule(RULE_FIELD, 'needs cgroupsPerQOS', (config) => {
    return config.cgroupsPerQOS !== false || (config.enforceNodeAllocatable ?? []).every((each) => each === 'none');
  }),
  createRule(RULE_FIELD, 'must have nothing beside "none"', (config) => {
    return !isEnforced(config, 'none') || (config.enforceNodeAllocatable ?? []).length === 1;
  }),
  createRule(RULE_FIELD, 'must not name anything twice', ({ enforceNodeAllocatable = [] }) => {
    return new Set(enforceNodeAllocatable).size === enforceNodeAllocatable.length;
  }),
  createRule(RULE_FIELD, 'must not have both "system-reserved" and "system-reserved-compressible"', (config) => {
    return !enforcesBoth(config, 'system-reserved');
  }),
  createRule(RULE_FIELD, 'must not have both "kube-reserved" and "kube-reserved-compressible"', (config) => {
    return !enforcesBoth(config, 'kube-reserved');
  }),
  createRule('systemReservedCgroup', 'is required by "system-reserved" in enforceNodeAllocatable', (config) => {
    return (
      !isEnforced(config, 'system-reserved', 'system-reserved-compressible') || Boolean(config.systemReservedCgroup)
    );
  }),
  createRule('kubeReservedCgroup', 'is required by "kube-reserved" in enforceNodeAllocatable', (config) => {
    return !isEnforced(config, 'kube-reserved', 'kube-reserved-compressible') || Boolean(config.kubeReservedCgroup);
  }),
  createRule('reservedSystemCPUs', 'cannot be used with systemReservedCgroup or kubeReservedCgroup', (config) => {
    return !config.reservedSystemCPUs || !(config.systemReservedCgroup || config.kubeReservedCgroup);
  }),
  createRule('reservedMemory', 'must not name a resource of a NUMA node twice', ({ reservedMemory = [] }) => {
    const names = reservedMemory.flatMap(({ numaNode, limits }) =>
      Object.keys(limits).map((each) => `${numaNode}/${each}`),
    );
    return new Set(names).size === names.length;
  }),
  createRule('systemCgroups', 'needs cgroupRoot', (config) => !config.systemCgroups || Boolean(config.cgroupRoot)),
];
