/** The Node object as its node registers it (`tryRegisterWithAPIServer` of `pkg/kubelet/kubelet_node_status.go`). */
import { lookUp } from '../../base/lookUp.ts';
import type { JsonFields } from '../../base/mergePatch.ts';
import { isExtended } from '../resources/requests.ts';
import type { NodeObject } from './nodeObject.ts';

const ATTACHES = 'volumes.kubernetes.io/controller-managed-attach-detach';

type Texts = Readonly<Record<string, string>>;

/** Settings for the registration of the node. */
export interface RegistrationOptions {
  /** Whether the controller of the cluster attaches volumes to the node (`enableControllerAttachDetach`). */
  readonly attachesByController: boolean;
}

/** The Node as a new node creates it, without the fields that only the API server sets. */
export function registeredNode(
  { metadata, spec, status, ...kind }: NodeObject,
  { attachesByController }: RegistrationOptions,
) {
  const { name, labels, annotations: given } = metadata;
  const annotations = attachesByController ? { ...given, [ATTACHES]: 'true' } : given;
  return { ...kind, metadata: { name, labels, ...(annotations ? { annotations } : {}) }, spec, status };
}

/** The labels that a node keeps as they should be; the others are whoever made it to say. */
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
/** Those of them that it sets right whenever it looks, not only when it registers. */
const FIXED_LABELS = ['kubernetes.io/os', 'kubernetes.io/arch'] as const;

/** The labels of a Node that are not as its node needs them, as they should be. */
export const wrongLabels = (node: NodeObject, found: Texts = {}): Texts => wrongOf(FIXED_LABELS, node, found);

function wrongOf(names: readonly string[], { metadata: { labels } }: NodeObject, found: Texts = {}): Texts {
  const wrong = names.flatMap((label) => {
    const wanted = lookUp(labels, label);
    return wanted === undefined || lookUp(found, label) === wanted ? [] : [[label, wanted] as const];
  });
  return Object.fromEntries(wrong);
}

/**
 * A merge patch that brings a Node up to date that was registered before; undefined if it is. As in a kubelet, the
 * annotation about attaching is set or removed by the setting (`reconcileCMADAnnotationWithExistingNode` in
 * `pkg/kubelet/kubelet_node_status.go`).
 */
export function wantedOfRegistered(
  node: NodeObject,
  found: {
    readonly metadata: { readonly labels?: Texts | undefined; readonly annotations?: Texts | undefined };
    readonly status: JsonFields;
  },
  { attachesByController }: RegistrationOptions,
): JsonFields | undefined {
  const { labels, annotations } = found.metadata;
  const wrong = wrongOf(DEFAULT_LABELS, node, labels);
  const attaches = attachesByController ? 'true' : undefined;
  const metadata = {
    ...(Object.keys(wrong).length > 0 ? { labels: wrong } : {}),
    ...(lookUp(annotations, ATTACHES) === attaches ? {} : { annotations: { [ATTACHES]: attaches ?? null } }),
  };
  const status = wantedResources(node, found.status);
  const patch = {
    ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
    ...(Object.keys(status).length > 0 ? { status } : {}),
  };
  return Object.keys(patch).length > 0 ? patch : undefined;
}

/** Pages of a size that the host has no more go, and devices that nobody serves any more are none. */
function wantedResources({ status }: NodeObject, found: JsonFields): JsonFields {
  const changed = (['capacity', 'allocatable'] as const).map((list) => {
    const server = lookUp(found, list);
    const amounts: [string, unknown][] = typeof server === 'object' && server !== null ? Object.entries(server) : [];
    const stale = amounts.filter(([name]) => !Object.hasOwn(status[list], name));
    const gone = stale.filter(([name]) => name.startsWith('hugepages-')).map(([name]) => [name, null]);
    const unserved = stale.filter(([name, amount]) => isExtended(name) && amount !== '0').map(([name]) => [name, '0']);
    return [list, Object.fromEntries([...gone, ...unserved])] as const;
  });
  return Object.fromEntries(changed.filter(([, amounts]) => Object.keys(amounts).length > 0));
}
