/** Enforces the limits of the system-reserved and kube-reserved cgroups. */
import { messageOf, NodeFailure } from '../../base/failure.ts';
import { hostCgroupfs } from '../../host/cgroup/cgroupfs.ts';
import type { Cgroups } from '../../host/cgroup/cgroups.ts';
import { type Hierarchy, readHierarchies } from '../../host/cgroup/hierarchies.ts';
import { limitExistingCgroup } from '../../host/cgroup/reservedCgroups.ts';
import { callSystemd } from '../../host/cgroup/systemd.ts';
import { type EventMessage, warning } from '../../kubernetes/events/recordedEvent.ts';
import type { CgroupLocation } from '../../kubernetes/resources/cgroup.ts';
import {
  describeEnforced,
  describeNotEnforced,
  type ReservedCgroup,
} from '../../kubernetes/resources/reservedCgroups.ts';

interface EnforcementDependencies {
  readonly cgroupDriver: CgroupLocation['cgroupDriver'];
  /** The cgroups of the pods. Undefined if the agent does not manage them. */
  readonly cgroups?: Pick<Cgroups, 'setUp'> | undefined;
  readonly publish: (message: EventMessage) => void;
  /** The cgroup hierarchies. Defaults to the host's. */
  readonly hierarchies?: readonly Hierarchy[];
}

/**
 * Sets the limits of each cgroup, with an event for each one. If that fails, throws a `NodeFailure` with the message of
 * the event, because the node must not start without its reservations.
 */
export async function enforceReservedCgroups(
  reservedCgroups: readonly ReservedCgroup[],
  { cgroupDriver, cgroups, publish, hierarchies }: EnforcementDependencies,
): Promise<void> {
  if (reservedCgroups.length === 0) return;
  // On cgroup v2, this enables controllers that the reserved cgroups must have. Ignore errors here, because the cgroups
  // machine repeats the call later and reports any failure.
  await cgroups?.setUp().catch(() => {});
  const host = { cgroupfs: hostCgroupfs, cgroupDriver, systemd: callSystemd };
  const cgroupTrees = hierarchies ?? (await readHierarchies());
  for (const reserved of reservedCgroups) {
    try {
      await limitExistingCgroup(reserved.name, reserved.limits, { ...host, hierarchies: cgroupTrees });
    } catch (cause) {
      const message = describeNotEnforced(reserved, messageOf(cause));
      publish(warning('FailedNodeAllocatableEnforcement', message));
      throw new NodeFailure('FailedNodeAllocatableEnforcement', message, { cause });
    }
    publish({ reason: 'NodeAllocatableEnforced', message: describeEnforced(reserved) });
  }
}
