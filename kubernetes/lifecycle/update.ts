/**
 * Compares two versions of a pod from its source and reports which parts have changed. The node's own status updates,
 * which the source sends back, are not treated as changes.
 */

import { isJsonEqual } from '../../base/values/isJsonEqual.ts';
import { APPARMOR_ANNOTATION } from '../api/appArmor.ts';
import { containersOf } from '../api/pods/containers.ts';
import type { Container } from '../api/schema/container.ts';
import type { Pod } from '../api/schema/pod.ts';
import { fieldValue } from '../environment/fieldRef.ts';
import { fieldPathsOf } from '../environment/projection.ts';
import { foreignConditions } from '../status/conditions.ts';

export interface PodUpdate {
  /** Whether the spec or an AppArmor annotation has changed. Admission depends on both. */
  readonly spec: boolean;
  /**
   * Whether labels, annotations, the generation or owners have changed. Users read these fields, and volumes and
   * environment variables can expose them.
   */
  readonly metadata: boolean;
  /** Whether conditions that other components set have changed. Readiness gates depend on them. */
  readonly conditions: boolean;
  /** Whether the deletion timestamp or the deletion grace period has changed. */
  readonly deletion: boolean;
}

/** Compares two versions of a pod, as the kubelet does before it updates its pod worker. */
export function podUpdate(previousPod: Pod, currentPod: Pod): PodUpdate {
  const [previous, current] = [previousPod.metadata, currentPod.metadata];
  return {
    spec:
      !isJsonEqual(previousPod.spec, currentPod.spec) ||
      !isJsonEqual(profileAnnotations(previousPod), profileAnnotations(currentPod)),
    metadata: !isJsonEqual(stableMetadata(previousPod), stableMetadata(currentPod)),
    conditions: !isJsonEqual(foreignConditions(previousPod), foreignConditions(currentPod)),
    deletion:
      previous.deletionTimestamp !== current.deletionTimestamp ||
      previous.deletionGracePeriodSeconds !== current.deletionGracePeriodSeconds,
  };
}

/** Returns the AppArmor annotations. Older manifests have these instead of a field for a container's profile. */
const profileAnnotations = ({ metadata }: Pod) =>
  Object.entries(metadata.annotations ?? {}).filter(([key]) => key.startsWith(APPARMOR_ANNOTATION));

/**
 * Returns the metadata without the fields that change on every write, the deletion fields and the node's own
 * annotation.
 */
function stableMetadata({ metadata }: Pod): unknown {
  const { resourceVersion: _version, managedFields: _fields, annotations = {}, ...otherMetadata } = metadata;
  const { deletionTimestamp: _at, deletionGracePeriodSeconds: _grace, ...stableFields } = otherMetadata;
  const { 'kubernetes.io/config.seen': _seen, ...userAnnotations } = annotations;
  return { ...stableFields, annotations: userAnnotations };
}

/**
 * Returns the names of the volumes and containers that expose a changed field of the pod in their files or environment
 * variables (C21).
 */
export function affectedByChange(previousPod: Pod, currentPod: Pod): { volumes: string[]; containers: string[] } {
  const hasChanged = (path: string) =>
    fieldValue(previousPod, path, SAME_ADDRESSES) !== fieldValue(currentPod, path, SAME_ADDRESSES);
  const { volumes = [] } = currentPod.spec;
  return {
    volumes: volumes.filter((volume) => fieldPathsOf(volume).some(hasChanged)).map(({ name }) => name),
    containers: [...containersOf(currentPod.spec)].flatMap(({ container }) =>
      fieldsOfVariables(container).some(hasChanged) ? [container.name] : [],
    ),
  };
}

const SAME_ADDRESSES = { podIps: [], hostIps: [] };

const fieldsOfVariables = ({ env = [] }: Pick<Container, 'env'>): string[] =>
  env.flatMap(({ valueFrom }) => valueFrom?.fieldRef?.fieldPath ?? []);
