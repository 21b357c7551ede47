/** Builds the Node object for registration (`tryRegisterWithAPIServer` of `pkg/kubelet/kubelet_node_status.go`). */

import { lookUp } from '../../base/values/lookUp.ts';
import type { JsonFields } from '../../base/values/mergePatch.ts';
import { isHugePages } from '../api/validation/resources/resourceNames.ts';
import { isExtendedResource } from '../resources/requests.ts';
import type { NodeObject } from './nodeObject.ts';

const ATTACH_ANNOTATION = 'volumes.kubernetes.io/controller-managed-attach-detach';

type StringMap = Readonly<Record<string, string>>;

export interface RegistrationOptions {
  /** Whether the cluster's controller attaches volumes to the node (setting `enableControllerAttachDetach`). */
  readonly attachesByController: boolean;
}

/** Returns the Node to create, without the fields that only the API server sets. */
export function registeredNode(
  { metadata, spec, status, ...kind }: NodeObject,
  { attachesByController }: RegistrationOptions,
) {
  const { name, labels, annotations: nodeAnnotations } = metadata;
  const annotations = attachesByController ? { ...nodeAnnotations, [ATTACH_ANNOTATION]: 'true' } : nodeAnnotations;
  return { ...kind, metadata: { name, labels, ...(annotations ? { annotations } : {}) }, spec, status };
}

/** Labels that the node corrects when it registers. All other existing labels remain unchanged. */
const DEFAULT_LABELS = [
  'kubernetes.io/hostname',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'node.kubernetes.io/instance-type',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'beta.kubernetes.io/instance-type',
] as const;
/** Labels that the node corrects whenever it checks its Node, not only when it registers. */
const FIXED_LABELS = ['kubernetes.io/os', 'kubernetes.io/arch'] as const;

/** Returns the labels to correct whenever a registered Node is checked. */
export const labelFixes = (node: NodeObject, actualLabels: StringMap = {}): StringMap =>
  differingLabels(FIXED_LABELS, node, actualLabels);

function differingLabels(
  names: readonly string[],
  { metadata: { labels } }: NodeObject,
  actualLabels: StringMap = {},
): StringMap {
  const changes = names.flatMap((label) => {
    const expectedValue = lookUp(labels, label);
    return expectedValue === undefined || lookUp(actualLabels, label) === expectedValue
      ? []
      : [[label, expectedValue] as const];
  });
  return Object.fromEntries(changes);
}

/**
 * Returns a merge patch that updates a registered Node, or undefined if nothing differs. As in the kubelet,
 * `attachesByController` determines whether the attach annotation is present (`reconcileCMADAnnotationWithExistingNode`
 * in `pkg/kubelet/kubelet_node_status.go`).
 */
export function registrationPatch(
  node: NodeObject,
  existingNode: {
    readonly metadata: { readonly labels?: StringMap | undefined; readonly annotations?: StringMap | undefined };
    readonly status: JsonFields;
  },
  { attachesByController }: RegistrationOptions,
): JsonFields | undefined {
  const { labels, annotations } = existingNode.metadata;
  const labelChanges = differingLabels(DEFAULT_LABELS, node, labels);
  const attachValue = attachesByController ? 'true' : undefined;
  const metadata = {
    ...(Object.keys(labelChanges).length > 0 ? { labels: labelChanges } : {}),
    ...(lookUp(annotations, ATTACH_ANNOTATION) === attachValue
      ? {}
      : { annotations: { [ATTACH_ANNOTATION]: attachValue ?? null } }),
  };
  const status = resourceFixes(node, existingNode.status);
  const patch = {
    ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
    ...(Object.keys(status).length > 0 ? { status } : {}),
  };
  return Object.keys(patch).length > 0 ? patch : undefined;
}

/**
 * Returns the resources to correct in the status. A huge page size that the host no longer has is removed, and an
 * extended resource that is no longer provided by any plugin is set to 0.
 */
function resourceFixes({ status }: NodeObject, serverStatus: JsonFields): JsonFields {
  const changedLists = (['capacity', 'allocatable'] as const).map((list) => {
    const server = lookUp(serverStatus, list);
    const amounts: [string, unknown][] = typeof server === 'object' && server !== null ? Object.entries(server) : [];
    const staleAmounts = amounts.filter(([name]) => !Object.hasOwn(status[list], name));
    const removedPages = staleAmounts.filter(([name]) => isHugePages(name)).map(([name]) => [name, null]);
    const unservedAmounts = staleAmounts
      .filter(([name, amount]) => isExtendedResource(name) && amount !== '0')
      .map(([name]) => [name, '0']);
    return [list, Object.fromEntries([...removedPages, ...unservedAmounts])] as const;
  });
  return Object.fromEntries(changedLists.filter(([, amounts]) => Object.keys(amounts).length > 0));
}
