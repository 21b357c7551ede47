/**
 * Determines the limits of the existing cgroups of system daemons and Kubernetes daemons. The node sets these limits
 * once at startup (`enforceNodeAllocatableCgroups` in `pkg/kubelet/cm/node_container_manager_linux.go`).
 */
import { lookUp } from '../../base/values/lookUp.ts';
import type { ResourceList } from '../api/schema/scalars.ts';
import type { ReservedResources } from './allocatable.ts';
import { cpuShares } from './cgroup.ts';
import { type CgroupLimits, PIDS } from './cgroupLimits.ts';
import { amountOf } from './resources.ts';

/** A value of `enforceNodeAllocatable`. */
export type Enforcement =
  | 'none'
  | 'pods'
  | 'system-reserved'
  | 'system-reserved-compressible'
  | 'kube-reserved'
  | 'kube-reserved-compressible';

export interface ReservedCgroup {
  /** The daemons in the cgroup. */
  readonly owner: 'system' | 'kube';
  /** Name of the cgroup as configured. */
  readonly name: string;
  /** Whether only the CPU weight is set. */
  readonly isCompressible: boolean;
  /** Undefined if no resources are reserved for the daemons. */
  readonly limits: CgroupLimits | undefined;
}

interface ReservedCgroupSettings {
  readonly enforcements: readonly Enforcement[];
  readonly systemReservedCgroup: string;
  readonly kubeReservedCgroup: string;
  readonly reserved: Pick<ReservedResources, 'kubeReserved' | 'systemReserved'>;
  /** Whether the reserved memory is also protected from reclaim (`memory.min`), as with the feature gate MemoryQoS. */
  readonly protectsMemory: boolean;
}

/** Returns the cgroups whose limits are to be enforced, in the order in which the limits are set. */
export function reservedCgroups(settings: ReservedCgroupSettings): ReservedCgroup[] {
  const { enforcements, systemReservedCgroup, kubeReservedCgroup, reserved, protectsMemory } = settings;
  const owners = [
    { owner: 'system', name: systemReservedCgroup, resources: reserved.systemReserved },
    { owner: 'kube', name: kubeReservedCgroup, resources: reserved.kubeReserved },
  ] as const;
  return [false, true].flatMap((isCompressible) =>
    owners.flatMap(({ owner, name, resources }): ReservedCgroup[] => {
      if (!enforcements.includes(`${owner}-reserved${isCompressible ? '-compressible' : ''}`)) return [];
      return [{ owner, name, isCompressible, limits: toLimits(resources, { isCompressible, protectsMemory }) }];
    }),
  );
}

function toLimits(
  resources: ResourceList,
  { isCompressible, protectsMemory }: { readonly isCompressible: boolean; readonly protectsMemory: boolean },
): CgroupLimits | undefined {
  if (Object.keys(resources).length === 0) return undefined;
  const amount = (resource: string) =>
    lookUp(resources, resource) === undefined ? undefined : amountOf({ requests: resources }, 'requests', resource);
  const cpuMillis = amount('cpu');
  const weight = cpuMillis === undefined ? {} : { cpuShares: cpuShares(cpuMillis) };
  if (isCompressible) return weight;
  const [memoryBytes, pids] = [amount('memory'), amount(PIDS)];
  return {
    ...weight,
    ...(memoryBytes === undefined ? {} : { memoryBytes }),
    ...(memoryBytes === undefined || !protectsMemory ? {} : { memoryMinBytes: memoryBytes }),
    ...(pids === undefined ? {} : { pids }),
  };
}

/** Returns the kubelet's message for a cgroup whose limits are set. */
export const describeEnforced = ({ owner, name }: ReservedCgroup): string =>
  `Updated limits on ${owner} reserved cgroup ${name}`;

/** Returns the kubelet's message for a cgroup whose limits cannot be set. */
export function describeNotEnforced({ owner, name, isCompressible }: ReservedCgroup, reason: string): string {
  const title = `${owner === 'system' ? 'System' : 'Kube'} Reserved${isCompressible ? ' Compressible' : ''}`;
  return `Failed to enforce ${title} Cgroup Limits on ${JSON.stringify(name)}: ${reason}`;
}
