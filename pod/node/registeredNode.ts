/** The Node object as its node registers it (`tryRegisterWithAPIServer` of `pkg/kubelet/kubelet_node_status.go`). */
import { lookUp } from '../lookUp.ts';
import type { NodeObject } from './nodeObject.ts';

const ATTACHES = 'volumes.kubernetes.io/controller-managed-attach-detach';

type Texts = Readonly<Record<string, string>>;

export function registeredNode({ metadata, spec, status, ...kind }: NodeObject) {
  const { name, labels } = metadata;
  return { ...kind, metadata: { name, labels, annotations: { [ATTACHES]: 'true' } }, spec, status };
}

/** The labels that a node keeps as they should be; the others are whoever made it to say. */
const DEFAULT_LABELS = [
  ...['kubernetes.io/hostname', 'kubernetes.io/os', 'kubernetes.io/arch', 'beta.kubernetes.io/os'],
  ...['beta.kubernetes.io/arch', 'topology.kubernetes.io/zone', 'topology.kubernetes.io/region'],
  ...['node.kubernetes.io/instance-type', 'failure-domain.beta.kubernetes.io/zone'],
  ...['failure-domain.beta.kubernetes.io/region', 'beta.kubernetes.io/instance-type'],
] as const;

/** What of the metadata of a Node that was found has to become otherwise; undefined: nothing. */
export function wantedOfRegistered(
  { metadata: { labels } }: NodeObject,
  found: { readonly labels?: Texts | undefined; readonly annotations?: Texts | undefined },
) {
  const wrong = DEFAULT_LABELS.flatMap((label) => {
    const wanted = lookUp(labels, label);
    return wanted === undefined || lookUp(found.labels, label) === wanted ? [] : [[label, wanted] as const];
  });
  const isMarked = lookUp(found.annotations, ATTACHES) === 'true';
  if (wrong.length === 0 && isMarked) return undefined;
  return {
    ...(wrong.length > 0 ? { labels: Object.fromEntries(wrong) } : {}),
    ...(isMarked ? {} : { annotations: { [ATTACHES]: 'true' } }),
  };
}
