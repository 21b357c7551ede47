/** The labels that a node may set on itself (`pkg/kubelet/apis/well_known_labels.go` of kubernetes). */
import { lookUp } from '../../../base/values/lookUp.ts';
import type { JsonObject } from '../json.ts';

const RESTRICTED_DOMAIN = 'node-restriction.kubernetes.io';
const KUBERNETES_DOMAINS = ['kubernetes.io', 'k8s.io'] as const;
const ALLOWED_DOMAINS = ['kubelet.kubernetes.io', 'node.kubernetes.io'] as const;
const ALLOWED: ReadonlySet<string> = new Set([
  'kubernetes.io/hostname',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'beta.kubernetes.io/instance-type',
  'node.kubernetes.io/instance-type',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
]);

const isWithin = (domain: string, parent: string): boolean => domain === parent || domain.endsWith(`.${parent}`);

/** Returns the changed labels that the node must not set, sorted. */
export function forbiddenLabels(labels: JsonObject, before: JsonObject): string[] {
  const keys = new Set([...Object.keys(labels), ...Object.keys(before)]);
  const changed = [...keys].filter((key) => lookUp(labels, key) !== lookUp(before, key));
  return changed.filter(isForbidden).sort();
}

function isForbidden(label: string): boolean {
  const slash = label.indexOf('/');
  const domain = slash < 0 ? '' : label.slice(0, slash);
  if (isWithin(domain, RESTRICTED_DOMAIN)) return true;
  const isReserved = KUBERNETES_DOMAINS.some((each) => isWithin(domain, each));
  return isReserved && !ALLOWED.has(label) && !ALLOWED_DOMAINS.some((each) => isWithin(domain, each));
}
