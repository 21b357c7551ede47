/** What of an update at its source matters to a pod that is here, and to whom: an echo of what the node says is none. */

import { sameValue } from '../../base/sameValue.ts';
import { APPARMOR_ANNOTATION } from '../api/appArmor.ts';
import { containersOf } from '../api/containers.ts';
import type { Container } from '../api/schema/container.ts';
import type { Pod } from '../api/schema/pod.ts';
import { fieldValue } from '../environment/fieldRef.ts';
import { fieldsShown } from '../environment/projection.ts';
import { conditionsOfOthers } from '../status/conditions.ts';

export interface PodUpdate {
  /** What admission decides by, and then all that the pod has: its spec, and the profiles that annotations name. */
  readonly spec: boolean;
  /** What others read of it, and what its volumes and variables may show: labels, annotations, generation, owners. */
  readonly metadata: boolean;
  /** What others than the node say of it; its readiness gates go by it. */
  readonly conditions: boolean;
  /** That it is being deleted, and within which grace. */
  readonly deletion: boolean;
}

/** Compares two versions of a pod, as a kubelet does before it tells its pod of one. */
export function podUpdate(before: Pod, after: Pod): PodUpdate {
  const [old, now] = [before.metadata, after.metadata];
  return {
    spec: !sameValue(before.spec, after.spec) || !sameValue(profilesOf(before), profilesOf(after)),
    metadata: !sameValue(shownOf(before), shownOf(after)),
    conditions: !sameValue(conditionsOfOthers(before), conditionsOfOthers(after)),
    deletion:
      old.deletionTimestamp !== now.deletionTimestamp ||
      old.deletionGracePeriodSeconds !== now.deletionGracePeriodSeconds,
  };
}

/** Of a container there is no field for its AppArmor profile in older manifests. */
const profilesOf = ({ metadata }: Pod) =>
  Object.entries(metadata.annotations ?? {}).filter(([key]) => key.startsWith(APPARMOR_ANNOTATION));

/** The metadata without what changes with each write of the object, and without what the node itself noted. */
function shownOf({ metadata }: Pod): unknown {
  const { resourceVersion: _version, managedFields: _fields, annotations = {}, ...shown } = metadata;
  const { deletionTimestamp: _at, deletionGracePeriodSeconds: _grace, ...lasting } = shown;
  const { 'kubernetes.io/config.seen': _seen, ...written } = annotations;
  return { ...lasting, annotations: written };
}

/** The volumes and containers of a pod that show a field of it which is another now: in their files, in their variables (C21). */
export function showingChange(before: Pod, after: Pod): { volumes: string[]; containers: string[] } {
  const differs = (path: string) => fieldValue(before, path, UNCHANGED) !== fieldValue(after, path, UNCHANGED);
  const { volumes = [] } = after.spec;
  return {
    volumes: volumes.filter((volume) => fieldsShown(volume).some(differs)).map(({ name }) => name),
    containers: [...containersOf(after.spec)].flatMap(({ container }) =>
      fieldsInVariables(container).some(differs) ? [container.name] : [],
    ),
  };
}

const UNCHANGED = { podIps: [], hostIps: [] };

const fieldsInVariables = ({ env = [] }: Pick<Container, 'env'>): string[] =>
  env.flatMap(({ valueFrom }) => valueFrom?.fieldRef?.fieldPath ?? []);
